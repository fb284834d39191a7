package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/serviceclient"
	"github.com/millicore/millicore/internal/signals"
)

// scraper reads, once an interval, how long a replica waited for its dependency
// by its own account.
type scraper struct {
	trial, cell int
	of          string
	index       int
	replica     platform.Replica
	metrics     *experiment.Metrics
	every       time.Duration
	cut         signals.Intervals
	began       time.Time // when the load begins
	out         func(*signals.Frame)
	protocol    string // that the service's load speaks
	client      *http.Client
	last        *histogram
}

// histogram is the running totals of a Prometheus histogram over all its
// labels; counts are cumulative.
type histogram struct {
	at     time.Time
	bounds []float64
	counts []int64 // one a bound
	count  int64
	sum    float64
}

// mostScraped bounds what is read of a service's metrics.
const mostScraped = 8 << 20

// run scrapes until ctx ends. What cannot be read is missing in the record, as
// everything that was not measured: a service under too much load may well not
// answer. The first failure is returned, for a note.
func (s *scraper) run(ctx context.Context) (first error) {
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for seq := 0; ; {
		h, err := s.scrape(ctx)
		if err != nil && first == nil && ctx.Err() == nil {
			first = err
		}
		if err == nil {
			if waits := h.since(s.last); waits != nil {
				var phase signals.Phase
				seq, phase = s.interval(seq, h)
				s.out(&signals.Frame{Trial: s.trial, Cell: s.cell, Seq: seq, Start: s.last.at.UnixNano(), End: h.at.UnixNano(),
					Phase: phase, Of: s.of, Index: s.index, Waits: waits})
			}
			s.last = h
		}
		select {
		case <-ctx.Done():
			return first
		case <-ticker.C:
		}
	}
}

// interval is the one that the middle of a reading lies in, from seq on: an
// overloaded service answers late, and not once an interval.
func (s *scraper) interval(seq int, h *histogram) (int, signals.Phase) {
	middle := s.last.at.Add(h.at.Sub(s.last.at) / 2).Sub(s.began)
	for {
		_, end, phase := s.cut.At(seq)
		if middle <= end {
			return seq, phase
		}
		seq++
	}
}

func (s *scraper) scrape(ctx context.Context) (*histogram, error) {
	url := serviceclient.URL(s.protocol, s.replica.Address(), s.metrics.Path)
	fail := func(err error) (*histogram, error) { return nil, fmt.Errorf("read the metrics of %s: %w", s.of, err) }
	ctx, cancel := context.WithTimeout(ctx, max(2*time.Second, s.every))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fail(err)
	}
	answer, err := s.client.Do(req)
	if err != nil {
		return fail(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("GET %s answered %s", s.metrics.Path, answer.Status))
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(answer.Body, mostScraped))
	if err != nil {
		return fail(err)
	}
	family := families[s.metrics.Dependency]
	if family.GetType() != dto.MetricType_HISTOGRAM {
		return fail(fmt.Errorf("GET %s has no histogram %s; see metrics.dependency of the service", s.metrics.Path, s.metrics.Dependency))
	}
	return total(family, time.Now())
}

// total adds up the series of a histogram. Their bounds must be the same.
func total(family *dto.MetricFamily, at time.Time) (*histogram, error) {
	h := &histogram{at: at}
	for i, m := range family.Metric {
		var bounds []float64
		var counts []int64
		for _, b := range m.Histogram.Bucket {
			if !math.IsInf(b.GetUpperBound(), 1) {
				bounds = append(bounds, b.GetUpperBound())
				counts = append(counts, int64(b.GetCumulativeCount()))
			}
		}
		if i == 0 {
			h.bounds, h.counts = bounds, make([]int64, len(bounds))
		}
		if len(bounds) != len(h.bounds) {
			return nil, fmt.Errorf("histogram %s: its series have different bounds", family.GetName())
		}
		for j, n := range counts {
			if bounds[j] != h.bounds[j] {
				return nil, fmt.Errorf("histogram %s: its series have different bounds", family.GetName())
			}
			h.counts[j] += n
		}
		h.count += int64(m.Histogram.GetSampleCount())
		h.sum += m.Histogram.GetSampleSum()
	}
	return h, nil
}

// since is what was added after an earlier reading; nil where there was none,
// or where the service began anew meanwhile.
func (h *histogram) since(before *histogram) *signals.Waits {
	if before == nil || len(before.bounds) != len(h.bounds) || h.count < before.count {
		return nil
	}
	w := &signals.Waits{Bounds: h.bounds, Counts: make([]int64, len(h.bounds)+1), Sum: max(0, h.sum-before.sum)}
	below := int64(0)
	for i := range h.bounds {
		upTo := h.counts[i] - before.counts[i]
		if upTo < below {
			return nil
		}
		w.Counts[i], below = upTo-below, upTo
	}
	all := h.count - before.count
	if all < below {
		return nil
	}
	w.Counts[len(h.bounds)] = all - below
	return w
}
