package local

import (
	"net"
	"os"
	"testing"
)

// helper is the argument by which this test's program is a service instead.
const helper = "__helper"

func TestMain(m *testing.M) {
	Shim(os.Args)
	if len(os.Args) > 2 && os.Args[1] == helper {
		serve()
	}
	os.Exit(m.Run())
}

// serve accepts connections for ever.
func serve() {
	l, err := net.Listen("tcp", ":"+os.Getenv("PORT"))
	if err != nil {
		os.Exit(3)
	}
	for {
		c, err := l.Accept()
		if err == nil {
			c.Close()
		}
	}
}
