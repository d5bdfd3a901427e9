//! Single forgeries: claims that are put into an annotation which is right otherwise.
