package metric

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs"
)

// set gives each figure of a struct the next number, and returns how many it gave.
func set(v reflect.Value, n int64) int64 {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return set(v.Elem(), n)
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			n = set(v.Field(i), n)
		}
		return n
	case reflect.Int, reflect.Int64:
		n++
		if v.Type() == reflect.TypeOf(time.Duration(0)) {
			v.SetInt(n * int64(time.Second))
		} else {
			v.SetInt(n)
		}
	case reflect.Float64:
		n++
		v.SetFloat(float64(n))
	}
	return n
}

// Each figure of maxprocs.Stats has one metric, and nothing that was not measured has one.
func TestAll(t *testing.T) {
	var s maxprocs.Stats
	n := set(reflect.ValueOf(&s).Elem(), 0)
	s.Limit.State = maxprocs.Limited
	seen, names := map[float64]string{}, map[string]bool{}
	for _, m := range All {
		value, measured := m.Value(s)
		if other := seen[value]; !measured || other != "" || value < 1 || value > float64(n) {
			t.Errorf("%s: got %v, %v; %q has it too", m.Name, value, measured, other)
		}
		seen[value] = m.Name
		if names[m.Name] || names[m.Dotted] || m.Counter != strings.HasSuffix(m.Name, "_total") || strings.Contains(m.Name, "seconds") != (m.Unit == "s") ||
			strings.HasSuffix(m.Name, "bytes") != (m.Unit == "By") {
			t.Errorf("%+v has not the name of its kind, or one twice", m)
		}
		names[m.Name], names[m.Dotted] = true, true
		if value, measured := m.Value(maxprocs.Stats{}); measured && m.Name != "gomaxprocs" {
			t.Errorf("%s: got %v although it was not measured", m.Name, value)
		}
	}
	if len(seen) != int(n) {
		t.Errorf("%d of %d figures have a metric", len(seen), n)
	}
}
