// args: --check overflow
// A file that was put together from others: lines are those of the original ones.
#line 10 "original.c"
unsigned char level;
#line 20
void raise_level(int by)
#line 21
{
#line 22
  level = (unsigned char)(level + by);
#line 22
  if (level > 100)
#line 23
    level = 100;
}
#line 3 "main.c"
int main(void)
{
#line 5
  int sum = 2147483600;
#line 6
  raise_level(7);
#line 7
  return sum + level;
}
