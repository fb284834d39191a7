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

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/serviceclient"
	"github.com/millicore/millicore/internal/platform"
)

// scraper reads, once in each interval, a replica's own metric of the time that it
// waited for its dependency.
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
	protocol    string // of the service's load
	client      *http.Client
	last        *histogram
}

// histogram has the running totals of a Prometheus histogram over all its labels. The
// counts are cumulative.
type histogram struct {
	at     time.Time
	bounds []float64
	counts []int64 // one for each bound
	count  int64
	sum    float64
}

// maxScraped is the maximum number of bytes that are read of a service's metrics.
const maxScraped = 8 << 20

// run scrapes until ctx ends. A reading that fails is missing in the record, like
// everything that was not measured: an overloaded service may not answer. The result
// is the first failure, for the log.
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
				s.out(&signals.Frame{Trial: s.trial, Cell: s.cell, Seq: seq, Phase: phase,
					Start: steady(s.began, s.last.at).UnixNano(), End: steady(s.began, h.at).UnixNano(),
					Of: s.of, Index: s.index, Waits: waits})
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

// interval returns the interval, from seq on, that contains the middle of a reading: an
// overloaded service answers late, and not once in each interval.
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
	families, err := parser.TextToMetricFamilies(io.LimitReader(answer.Body, maxScraped))
	if err != nil {
		return fail(err)
	}
	family := families[s.metrics.Dependency]
	if family.GetType() != dto.MetricType_HISTOGRAM {
		return fail(fmt.Errorf("GET %s has no histogram %s; see metrics.dependency of the service", s.metrics.Path, s.metrics.Dependency))
	}
	return total(family, time.Now())
}

// total adds the series of a histogram. Their bounds must be equal.
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

// since returns what was added after an earlier reading; nil if there was none, or if
// the service was restarted meanwhile.
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
