package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab/requests"
	"github.com/millicore/millicore/internal/load/reflection"
	"github.com/millicore/millicore/internal/load/serviceclient"
)

// describing guards the schema of a load, which the users of a warm-up share.
var describing sync.Mutex

// call makes a call of gRPC, as once sends a request. The schema comes from the server unless
// it is known.
func call(ctx context.Context, client *http.Client, address string, l *experiment.Load) error {
	describing.Lock()
	err := requests.Describe(ctx, l, []string{address})
	describing.Unlock()
	if err == nil {
		err = requests.Call(ctx, client, l, address)
	}
	var network *net.OpError
	var failed *reflection.Failed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return &failedCall{l.Request.GRPC, failed}
	case errors.As(err, &network) && network.Op == "dial":
		return &Unanswered{fmt.Errorf("connect to the server: %w", err)}
	}
	return &Unanswered{fmt.Errorf("call %s: %w", l.Request.GRPC, serviceclient.Explain(err))}
}

// failedCall is the error of a call whose status is not OK.
type failedCall struct {
	method string
	*reflection.Failed
}

func (f *failedCall) Error() string {
	return fmt.Sprintf("%s ended with %s; check --grpc and the message of --body: try needs calls that succeed", f.method, f.Failed.Error())
}
