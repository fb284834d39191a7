package main

import (
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/data/record"
)

// sizeValue is a number of bytes of a flag, as a Kubernetes quantity: 4Gi.
type sizeValue int64

func (s *sizeValue) Set(text string) error {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Value() <= 0 {
		return errors.New("want a size above 0, as in 4Gi or 500Mi")
	}
	*s = sizeValue(q.Value())
	return nil
}

func (s *sizeValue) Type() string { return "size" }

func (s *sizeValue) String() string {
	if *s == 0 {
		return ""
	}
	return resource.NewQuantity(int64(*s), resource.BinarySI).String()
}

// recordFlags are the flags of commands that read records, which may come from anybody.
type recordFlags struct{ most sizeValue }

func (f *recordFlags) define(c *cobra.Command) {
	f.most = record.DefaultSize
	c.Flags().Var(&f.most, "max-size", "size up to which a record is read; the length of its lines is bounded with it")
}

// reader reads records within the bounds, and until the command is to end.
func (f *recordFlags) reader(c *cobra.Command) record.Reader {
	return record.Reader{Size: int64(f.most), Stop: c.Context().Done()}
}
