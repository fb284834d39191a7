package main

import (
	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/front/logs"
)

func trafficCommand() *cobra.Command {
	var o logs.Options
	c := &cobra.Command{
		Use:   "traffic ACCESS_LOG",
		Short: "Show the traffic in an access log, and write its requests for a load",
		Long: "Traffic reads an access log (combined, common, JSON of Caddy, Traefik, Envoy and nginx, AWS load\n" +
			"balancers, HAProxy, IIS, CloudFront), and shows which requests it has, with ids collapsed,\n" +
			"how often, and when they came. A dash reads standard input. The file of --out has a request a line,\n" +
			"with its weight.",
		Example: "  millicore traffic access.log\n" +
			"  millicore traffic access.log.1.gz --out mix.jsonl\n" +
			"  kubectl logs deploy/ingress | millicore traffic - --out mix.jsonl",
		Args: exactly(1, "an access log, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.File = args[0]
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			return o.Run(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&o.Out, "out", "", "write the requests to this file, one JSON object a line")
	c.Flags().IntVar(&o.Paths, "paths", 20, "with --out: number of paths of a route at most; together they have the weight of the route")
	c.Flags().BoolVar(&o.JSON, "json", false, "print what the log shows as one JSON object")
	return c
}
