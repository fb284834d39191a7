package live

import (
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/millicore/millicore/internal/base/tui"
	"github.com/millicore/millicore/internal/data/display"
)

// view is the picture of a screen while it is on the terminal.
type view struct {
	program *tea.Program
	done    chan struct{} // closed when the terminal is in its normal state again
}

// newView puts the picture of a screen on its terminal.
func newView(s *Screen) *view {
	v := &view{program: tui.NewProgram(&model{screen: s, terminal: display.TerminalOf(s.out), height: 24}, keyboard(), s.out), done: make(chan struct{})}
	go func() {
		defer close(v.done)
		_, _ = v.program.Run() // an error ends the picture: lines follow
	}()
	return v
}

// keyboard is the terminal that keys are read from; nil: there is none.
func keyboard() io.Reader {
	if tui.IsTerminal(os.Stdin) && foreground(os.Stdin) {
		return os.Stdin
	}
	return nil
}

// closed is closed when the picture has gone; nil without a picture.
func (v *view) closed() <-chan struct{} {
	if v == nil {
		return nil
	}
	return v.done
}

// quit removes the picture.
func (v *view) quit() {
	v.program.Quit()
	<-v.done
}

// model connects a screen's state to Bubble Tea.
type model struct {
	screen   *Screen
	terminal display.Terminal
	height   int
}

// tick is the message that it is time to draw.
type tick struct{}

func (m *model) wait() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tick{} }) }

// Init starts the ticks.
func (m *model) Init() tea.Cmd { return m.wait() }

// Update handles a message. The state is drawn after each.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		return m, m.wait()
	case tea.WindowSizeMsg:
		m.terminal.Width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if key := msg.String(); key == "ctrl+c" || key == "ctrl+z" {
			select {
			case m.screen.keys <- key:
			default: // an earlier one is being handled
			}
		}
	}
	return m, nil
}

// View draws the state.
func (m *model) View() tea.View {
	m.screen.mu.Lock()
	defer m.screen.mu.Unlock()
	return tui.View("millicore load", strings.Join(m.screen.state.Draw(time.Now(), m.terminal, m.height), "\n"))
}
