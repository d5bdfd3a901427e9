// expect: bounds=true
// A thousand literals are distinguished from what may be written.
#define TEXT(number) #number,
#define TEN(number) TEXT(number##0) TEXT(number##1) TEXT(number##2) TEXT(number##3) TEXT(number##4) \
  TEXT(number##5) TEXT(number##6) TEXT(number##7) TEXT(number##8) TEXT(number##9)
#define HUNDRED(number) TEN(number##0) TEN(number##1) TEN(number##2) TEN(number##3) TEN(number##4) \
  TEN(number##5) TEN(number##6) TEN(number##7) TEN(number##8) TEN(number##9)
static char own[4];
static char *texts[] = {HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) own};
int main(void) {
  *texts[600] = 'x';
  return 0;
}
