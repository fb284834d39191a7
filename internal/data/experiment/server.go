package experiment

import "strconv"

// Server declares that the services of an experiment are one server in several
// settings. The report then begins with a paragraph about that server, in which the
// first setting is what the others are compared with.
type Server struct {
	Name     string  `json:"name" yaml:"name,required" names:"letters" doc:"The server in sentences, as in \"my-server (Go 1.26)\"."`
	Settings []Setup `json:"settings" yaml:"settings,required" doc:"The settings, the first one as the server is without any."`
}

// Setup is one setting of a server.
type Setup struct {
	Service string `json:"service,omitempty" yaml:"service" kind:"unitName" doc:"The service that runs the server in this setting; null: it was not worth a service, see no_effect."`
	Label   string `json:"label" yaml:"label,required" names:"letters" doc:"The setting in sentences and tables, as in GOMAXPROCS=1."`
	// UnknownLimits: the server ran already, where its limits cannot be read.
	UnknownLimits bool   `json:"unknown_limits,omitempty" yaml:"unknown_limits" default:"false" doc:"true: the service ran already, and its limits could not be read."`
	NoEffect      string `json:"no_effect,omitempty" yaml:"no_effect" names:"letters" doc:"Why the setting changes nothing, so that it has no service."`
	Before        bool   `json:"before,omitempty" yaml:"before" default:"false" doc:"true: the server before a change, which the first setting is held against; the report begins with what changed."`
	Parallelism   int    `json:"parallelism,omitempty" yaml:"parallelism" doc:"How many threads it was seen to run at once; default: not known."`
	Advice        string `json:"advice,omitempty" yaml:"advice" names:"letters" doc:"Sentences that the paragraph ends with."`
}

// Against is the service that runs the server before a change; "": the experiment is not about one.
func (s *Server) Against() string {
	if s == nil {
		return ""
	}
	for i := range s.Settings {
		if s.Settings[i].Before && i > 0 {
			return s.Settings[i].Service
		}
	}
	return ""
}

// SearchesOneServer reports whether the cells are searches of one server in several settings.
func (e *Experiment) SearchesOneServer() bool {
	return e.Server != nil && len(e.Cells) > 0 && e.Cells[0].Load.Find
}

// LabelOf names a cell for people: by its setting of the server, with the CPU limit in
// brackets where the cells have several ("as it is (500m)"), otherwise as Cell.Label.
func (e *Experiment) LabelOf(c *Cell) string {
	if e.Server == nil {
		return c.Label()
	}
	for _, s := range e.Server.Settings {
		if s.Service != c.Service.Name {
			continue
		}
		if c.Limits.CPUMillis > 0 && e.severalLimits() {
			return s.Label + " (" + CPUQuantity(c.Limits.CPUMillis) + ")"
		}
		return s.Label
	}
	return c.Label()
}

// severalLimits reports whether the cells have more than one CPU limit.
func (e *Experiment) severalLimits() bool {
	one := int64(0)
	for i := range e.Cells {
		switch cpu := e.Cells[i].Limits.CPUMillis; {
		case cpu == 0 || cpu == one:
		case one != 0:
			return true
		default:
			one = cpu
		}
	}
	return false
}

// CPUQuantity writes a CPU limit as a quantity: "500m", "1.5", "2".
func CPUQuantity(millis int64) string {
	if millis < 1000 {
		return strconv.FormatInt(millis, 10) + "m"
	}
	return strconv.FormatFloat(float64(millis)/1000, 'f', -1, 64)
}
