package analysis

// near is how far below an answer, as a share, a load may be whose test window met the
// objective for the answer to count as tested. It is the error of the answer: 90% of
// the answers are within 13% of the truth for the worst of the simulated services, and
// within 5% for most.
const near = 0.1
