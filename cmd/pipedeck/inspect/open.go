// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/browser"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newOpenCommand(t *session.Target) *cobra.Command {
	var port, deployTarget string
	var output format.Output
	var inBrowser bool
	cmd := &cobra.Command{
		Use: "open APP", Short: "Reach a deployed application from this machine", Args: cobra.ExactArgs(1),
		Long: "Make a deployed application reachable from this machine and print its address. The address stays\n" +
			"the same until the environment ends, also while pods are replaced.",
		Example: "  pipedeck open hello-world --browser\n  curl \"$(pipedeck open hello-world)\"\n" +
			"  pipedeck open shop --port backend:grpc",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
				app, err := resolve.New(s, cmd, args).Argument(0).Application()
				if err != nil {
					return err
				}
				opened, err := s.Deck.OpenApplication(ctx, &deckv1.OpenApplicationRequest{
					ApplicationId: app.Id, Port: port, Target: deployTarget,
				})
				if err != nil {
					return session.Unreachable(err)
				}
				if inBrowser {
					if err := browser.Open(ctx, os.Environ(), opened.Url); err != nil {
						return exit.With(exit.Failed, err, "open it yourself: "+opened.Url)
					}
				}
				return printOpened(s.Out, s.Err, app, opened, &output)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&port, "port", "", "name or number of the port, or SERVICE:PORT (default: the first)")
	flags.StringVar(&deployTarget, "target", "", "deploy target to reach it in (default: the application's first)")
	flags.BoolVar(&inBrowser, "browser", false, "also open it in a browser")
	format.AddFlag(cmd, &output)
	return cmd
}

// printOpened gives scripts nothing but the address.
func printOpened(stdout, stderr io.Writer, app *deckv1.Application, opened *deckv1.OpenApplicationResponse,
	output *format.Output) error {
	if output.Machine() {
		return output.Document(stdout, document.Opened{Head: document.NewHead(), Address: document.Address{
			App: app.GetName(), AppID: app.GetId(), URL: opened.GetUrl(), Detail: opened.GetDetail(),
		}})
	}
	if _, ok := format.Terminal(stderr); ok {
		fmt.Fprintln(stderr, text.Line(opened.Detail))
	}
	_, err := fmt.Fprintln(stdout, opened.Url)
	return err
}
