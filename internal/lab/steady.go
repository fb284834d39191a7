package lab

import "time"

// steady is the time of a reading on the clock of a trial's begin. If the machine's clock is
// set during the trial, the wall times of later readings do not fit those before: an
// interval could end before it begins. The time between two readings of this machine is
// monotonic, and does not change. A reading of another machine has no monotonic time; its
// clock is not steadied.
func steady(began, at time.Time) time.Time { return began.Add(at.Sub(began)) }
