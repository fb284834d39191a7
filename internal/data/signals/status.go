package signals

import (
	"fmt"
	"slices"
	"strconv"
)

// FirstCall and its code is the status of an answer to a gRPC call that failed, so that it is
// counted beside the statuses of HTTP. Calls that succeed have 200.
const FirstCall = 600

// Statuses of answers to calls that are not those of gRPC.
const (
	MessageCompressed = 694 + iota // a message is, where that was not agreed
	MessageTooLarge
	MessageCut
	ManyMessages // more than one, where one is right
	NoMessage
	NoCode // the answer ended without a status
)

// Codes has the names of gRPC's codes, by number
// (https://grpc.github.io/grpc/core/md_doc_statuscodes.html).
var Codes = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// notGRPC has the names of the statuses from MessageCompressed.
var notGRPC = [...]string{"message compressed", "message too large", "message cut off", "more than one message", "no message", "no grpc-status"}

// StatusName is how a status of an answer is counted: the number of HTTP, the name of a gRPC
// code, or what is wrong with an answer of gRPC.
func StatusName(status int) string {
	switch {
	case status >= MessageCompressed && status <= NoCode:
		return notGRPC[status-MessageCompressed]
	case status >= FirstCall && status < FirstCall+len(Codes):
		return Codes[status-FirstCall]
	}
	return strconv.Itoa(status)
}

// StatusNamed is the status of a good answer that a text names: a number from 200 to 599, or a
// gRPC code.
func StatusNamed(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	code := slices.Index(Codes[:], text)
	switch {
	case err == nil && len(text) == 3 && n >= 200 && n <= 599:
		return n, nil
	case code == 0:
		return 200, nil
	case code > 0:
		return FirstCall + int64(code), nil
	}
	return 0, fmt.Errorf("%q is not a status of an answer; write one from 200 to 599, or the name of a code of gRPC, such as NOT_FOUND", text)
}
