package experiment

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
	Advice        string `json:"advice,omitempty" yaml:"advice" names:"letters" doc:"Sentences that the paragraph ends with."`
}
