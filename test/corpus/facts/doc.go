// Package facts examines what Millicore states about the simulated experiments of
// package corpus. Its tests render every sentence of a record, recognise what it states,
// compute the figures again from the record's files, and compare both with each other
// and with what is known by construction.
//
// The computation is a second one: it uses neither package analysis nor package results,
// only the types of the record's lines and the decoder of histograms. A sentence that no
// pattern recognises fails the test, so a new sentence needs a check.
package facts
