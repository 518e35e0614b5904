// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newLogsCommand(t *session.Target) *cobra.Command {
	var stage, plugin string
	var follow bool
	cmd := &cobra.Command{
		Use: "logs [APP]", Short: "Print the logs of a deployment's stages, or of a plugin",
		Args: cobra.MaximumNArgs(1),
		Example: "  pipedeck logs hello-world\n  pipedeck logs hello-world --stage primary -f\n" +
			"  pipedeck logs --plugin kubernetes -f",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneLog(cmd, args); err != nil {
				return err
			}
			if plugin != "" {
				return exit.Explain(cmd.Context(), pluginLog(cmd.Context(), t, plugin, follow, cmd.OutOrStdout()))
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return exit.Explain(cmd.Context(), stageLogs(cmd.Context(), t, name,
				&logPrinter{stage: stage, follow: follow, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}))
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "only this stage, by its id in the pipeline or its type")
	cmd.Flags().StringVar(&plugin, "plugin", "", "the output of this plugin's process")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the stage has ended, or for a plugin until Ctrl-C")
	return cmd
}

// oneLog refuses --plugin together with what chooses stages: there are two kinds of logs.
func oneLog(cmd *cobra.Command, args []string) error {
	switch {
	case !cmd.Flags().Changed("plugin"):
		return nil
	case len(args) > 0:
		return exit.Usage(errors.New("give an application or --plugin, not both"),
			"pipedeck logs --plugin NAME, or: pipedeck logs "+text.ShellWord(args[0]))
	case cmd.Flags().Changed("stage"):
		return exit.Usage(errors.New("give --stage or --plugin, not both"), "see pipedeck logs --help")
	}
	return nil
}

func stageLogs(ctx context.Context, t *session.Target, name string, p *logPrinter) error {
	deck, conn, err := t.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	bounded, cancel := context.WithTimeout(ctx, session.CallTimeout)
	defer cancel()
	s, err := session.ReadState(bounded, deck)
	if err != nil {
		return err
	}
	deployment, err := newestDeployment(s, name)
	if err != nil {
		return err
	}
	p.deck, p.flags = deck, t.Flags()
	if err := p.print(ctx, deployment); !errors.Is(err, reader.ErrEnded) {
		return err
	}
	return t.Ended()
}

// logPrinter prints the logs of a deployment's stages.
type logPrinter struct {
	deck deckv1.DeckServiceClient
	// stage names the only stage to print; empty for all.
	stage string
	// follow waits for the end of a running stage.
	follow bool
	// flags name the environment in a next step.
	flags string
	// out gets the logs, err what is said about them.
	out, err io.Writer
}

// print prints the logs of the stages that have begun.
func (p *logPrinter) print(ctx context.Context, deployment *deckv1.Deployment) error {
	var known, begun []string
	asked, printed := "", false
	for _, st := range deployment.Stages {
		name := state.StageArgument(deployment.Stages, st)
		known = append(known, name)
		wanted := p.stage == "" || state.IsStage(st, p.stage)
		if st.Status == deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			if wanted {
				asked = name
			}
			continue
		}
		begun = append(begun, name)
		if !wanted {
			continue
		}
		printed = true
		fmt.Fprintf(p.out, "==> %s %s: %s\n", text.Line(deployment.ApplicationName), stageHead(name, st),
			reader.Name(st.Status))
		if err := p.printStage(ctx, deployment.Id, st); err != nil {
			return err
		}
	}
	switch {
	case printed:
		return nil
	case p.stage != "" && asked != "" && len(begun) > 0:
		return exit.Usage(fmt.Errorf("stage %q of %s has no log, since it has not begun", asked,
			deployment.ApplicationName), session.Choices("stage", begun))
	case p.stage != "" && asked == "" && len(known) > 0:
		return exit.Usage(fmt.Errorf("there is no stage %q in the newest deployment of %s", p.stage,
			deployment.ApplicationName), session.Choices("stage", known))
	}
	_, err := fmt.Fprint(p.out, withoutStages(deployment, p.flags))
	return err
}

// stageHead is a stage's name, with its type where this is another word.
func stageHead(name string, stage *deckv1.Stage) string {
	if name == stage.GetName() {
		return text.Line(name)
	}
	return text.Line(name + " (" + stage.GetName() + ")")
}

// withoutStages says why the deployment has no stage log: its planning goes on or failed, or its first stage has not
// begun.
func withoutStages(d *deckv1.Deployment, flags string) string {
	said := fmt.Sprintf("==> %s %s: %s\n", text.Line(d.GetApplicationName()), line.Commit(d.GetCommit().GetHash()),
		reader.Name(d.GetStatus()))
	switch {
	case !state.Ended(d.GetStatus()) && len(d.GetStages()) == 0:
		return said + "its planning has not ended; it has no stage yet\n"
	case !state.Ended(d.GetStatus()):
		return said + "no stage has begun\n"
	case len(d.GetStages()) == 0:
		said += "it ended in its planning; it has no stage\n"
	default:
		said += "it ended before a stage began\n"
	}
	if reason := strings.TrimSpace(text.Clean(d.GetStatusReason())); reason != "" {
		said += reason + "\n"
	}
	if d.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS {
		return said
	}
	return said + "next step: correct the cause and commit, or: pipedeck sync " +
		text.ShellWord(d.GetApplicationName()) + flags + "\n"
}

// newestDeployment returns the newest deployment of an application, or of all when name is empty.
func newestDeployment(s *session.State, name string) (*deckv1.Deployment, error) {
	if name == "" {
		if all := s.AllDeployments(); len(all) > 0 {
			return all[0], nil
		}
		hint := "commit an application; see pipedeck apps"
		if apps := s.Applications(); len(apps) > 0 {
			hint = "commit a change, or: pipedeck sync " + text.ShellWord(apps[0].GetName())
		}
		return nil, exit.Usage(errors.New("there is no deployment yet"), hint)
	}
	app, err := s.FindApplication(name)
	if err != nil {
		return nil, err
	}
	if d := s.Newest(app.GetId()); d != nil {
		return d, nil
	}
	return nil, exit.Usage(fmt.Errorf("there is no deployment of %s yet", app.GetName()),
		"commit a change of it, or: pipedeck sync "+text.ShellWord(name))
}

// printStage prints what there is; only with follow it waits for more, until the stage has ended. It returns
// reader.ErrEnded when the environment ends first.
func (p *logPrinter) printStage(ctx context.Context, deployment string, stage *deckv1.Stage) error {
	reading := &logReading{deck: p.deck, deployment: deployment, out: bufio.NewWriter(p.out)}
	for {
		following := p.follow && stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING
		if err := reading.read(ctx, stage.GetId(), following); err != nil || !following {
			return err
		}
		now, err := p.awaitEnd(ctx, deployment, stage)
		if err != nil || now.GetRetries() <= stage.GetRetries() {
			return err
		}
		fmt.Fprintf(p.err, "%s is run again: attempt %d\n", text.Line(stage.GetName()), now.GetRetries()+1)
		stage = now
	}
}

// awaitEnd waits until a stage whose log is complete has ended, or runs as another attempt, and returns the stage as it
// is then; nil when its deployment is not kept any more. A stage whose plugin stops with the environment completes its
// log, too, but has not ended: then the error is reader.ErrEnded.
func (p *logPrinter) awaitEnd(ctx context.Context, deployment string, stage *deckv1.Stage) (now *deckv1.Stage,
	err error) {
	over := func(d *state.Deck) bool {
		for _, now = range d.Deployment(deployment).GetStages() {
			if now.GetId() == stage.GetId() {
				return state.StageEnded(now.GetStatus()) || now.GetRetries() > stage.GetRetries()
			}
		}
		now = nil
		return true
	}
	err = reader.Follow(ctx, p.deck, reader.Options{WithoutLogs: true, Until: over},
		func(reader.Change) error { return nil })
	return now, err
}
