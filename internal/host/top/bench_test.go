package top

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
)

// BenchmarkScreen is what a look at 1,000 services costs to take in, sort and
// draw. With inspect's BenchmarkLook it is what top costs at each look, but for
// what the terminal's own library does with the text.
func BenchmarkScreen(b *testing.B) {
	list := make([]inspect.Seen, 1000)
	look := func(second int) []inspect.Seen {
		for i := range list {
			list[i] = seen(fmt.Sprintf("%03d", i), second, int64(second*i/100), int64(10*second), time.Duration(second)*time.Second)
		}
		return list
	}
	s := newScreen(context.Background(), &looks{}, nil, Options{Every: time.Second}, display.Terminal{Colour: true})
	s.Update(tea.WindowSizeMsg{Width: 140, Height: 40})
	b.ReportAllocs()
	for second := 0; b.Loop(); second++ {
		b.StopTimer()
		msg := looked{seen: look(second)}
		b.StartTimer()
		s.Update(msg)
		if text := s.View().Content; text == "" {
			b.Fatal("nothing is drawn")
		}
	}
}
