// The naive test for primes that loads the CPU.

/** The largest n that is taken: one request costs seconds of CPU, not hours. */
export const maxPrime = 1_000_000_000;

/**
 * Divides by every i from 2 below n and never stops at the first divisor, so
 * that the cost is n-2 divisions whatever n is. The result depends on every
 * remainder, so no compiler may leave a division out.
 */
export function isPrime(n) {
  let prime = n >= 2;
  for (let i = 2; i < n; i++) {
    if (n % i === 0) prime = false;
  }
  return prime;
}
