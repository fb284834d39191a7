// Numbers as clients and settings write them: decimal digits and nothing else,
// where Number() would also take signs, fractions, exponents and white space.

const digits = /^[0-9]+$/;

/** The number that text is, or undefined where it is none from low to high. */
export function wholeNumber(text, low, high) {
  if (!digits.test(text)) return undefined;
  const n = Number(text);
  return n >= low && n <= high ? n : undefined;
}
