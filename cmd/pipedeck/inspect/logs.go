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
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newLogsCommand(t *session.Target) *cobra.Command {
	var stage, plugin string
	var follow bool
	var output format.Output
	cmd := &cobra.Command{
		Use: "logs [APP|DEPLOYMENT] [STAGE]", Short: "Print the logs of a deployment's stages, or of a plugin",
		Args: cobra.MaximumNArgs(2),
		Long: "Print the logs of the stages of a deployment: that of the given id, or the newest one of an " +
			"application or of all.\nWith a stage, only those of this stage. A single argument may be the stage, " +
			"where it names no application and\nno deployment, and only one application has such a stage in its " +
			"newest deployment. With --plugin, print\nwhat its process has printed.",
		Example: "  pipedeck logs hello-world\n  pipedeck logs hello-world primary -f\n  pipedeck logs primary\n" +
			"  pipedeck logs 3f2a -o json\n  pipedeck logs --plugin kubernetes -f",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneLog(cmd, args); err != nil {
				return err
			}
			if plugin != "" {
				return exit.Explain(cmd.Context(), pluginLog(cmd, t, plugin, follow,
					pluginWriter(cmd.OutOrStdout(), &output)))
			}
			return t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				err := stageLogs(ctx, resolve.New(s, cmd, args), stage, &logPrinter{
					deck: s.Deck, flags: s.Flags, follow: follow, machine: output.Machine(), out: s.Out, err: s.Err,
				})
				if errors.Is(err, reader.ErrEnded) {
					return t.Ended()
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "only this stage, by its id in the pipeline or its type")
	cmd.Flags().StringVar(&plugin, "plugin", "", "the output of this plugin's process")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false,
		"go on until the stage has ended, or for a plugin and its calls until Ctrl-C")
	format.AddLineFlag(cmd, &output)
	return cmd
}

// oneLog refuses --plugin together with what chooses stages: there are two kinds of logs.
func oneLog(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1 && cmd.Flags().Changed("stage"):
		return exit.Usage(errors.New("give the stage once"), "see pipedeck logs --help")
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

// stageLogs prints the logs of the stages that the arguments of a line and --stage name.
func stageLogs(ctx context.Context, l *resolve.Line, stage string, p *logPrinter) error {
	args := l.Args()
	var deployment *deckv1.Deployment
	var err error
	if removed := removedDeployment(l); removed != nil {
		deployment = removed
	} else if len(args) == 1 && stage == "" && !l.Argument(0).FitsTarget() {
		// A single argument that names no deployment is a stage.
		p.stage = l.Argument(0)
		deployment, err = p.stage.DeploymentWithStage()
	} else {
		deployment, err = chosenDeployment(l)
	}
	if err != nil {
		return err
	}
	switch {
	case len(args) > 1:
		p.stage = l.Argument(1)
	case stage != "":
		p.stage = l.Flag("stage", stage)
	}
	return p.print(ctx, deployment)
}

// removedDeployment returns the deployment of a removed application that the first argument names by its id; nil for
// none, or for several.
func removedDeployment(l *resolve.Line) *deckv1.Deployment {
	if len(l.Args()) == 0 || l.Argument(0).FitsTarget() {
		return nil
	}
	found := ofRemoved(l.State, func(d *deckv1.Deployment) bool { return resolve.Fit(l.Args()[0], d.GetId()) > 0 })
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// logPrinter prints the logs of a deployment's stages.
type logPrinter struct {
	deck deckv1.DeckServiceClient
	// stage names the only stages to print; its zero value is all.
	stage resolve.Word
	// follow waits for the end of a running stage.
	follow bool
	// machine prints event lines.
	machine bool
	// flags name the environment in a next step.
	flags string
	// out gets the logs, err what is said about them.
	out, err io.Writer
}

// print prints the logs of the stages that have begun.
func (p *logPrinter) print(ctx context.Context, deployment *deckv1.Deployment) error {
	wanted := deployment.GetStages()
	if p.stage.Text != "" && len(wanted) > 0 {
		var err error
		if wanted, err = p.stage.Stages(deployment); err != nil {
			return err
		}
	}
	printed := false
	for _, st := range wanted {
		if st.Status == deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			continue
		}
		printed = true
		if !p.machine {
			fmt.Fprintf(p.out, "==> %s %s: %s\n", text.Line(deployment.ApplicationName),
				stageHead(state.StageArgument(deployment.Stages, st), st), document.Word(st.Status))
		}
		if err := p.printStage(ctx, deployment.Id, st); err != nil {
			return err
		}
	}
	if printed {
		return nil
	}
	if begun := begunStages(deployment); p.stage.Text != "" && len(begun) > 0 {
		return exit.Usage(fmt.Errorf("stage %q of %s has no log, since it has not begun",
			state.StageArgument(deployment.Stages, wanted[0]), deployment.ApplicationName),
			session.Choices("stage", begun))
	}
	out := p.out
	if p.machine {
		out = p.err
	}
	_, err := fmt.Fprint(out, withoutStages(deployment, p.flags))
	return err
}

// begunStages returns the words for the stages that have a log.
func begunStages(d *deckv1.Deployment) (begun []string) {
	for _, st := range d.GetStages() {
		if st.GetStatus() != deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			begun = append(begun, state.StageArgument(d.GetStages(), st))
		}
	}
	return begun
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
		document.Word(d.GetStatus()))
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

// chosenDeployment returns the deployment that the first argument names: that of an id, the newest one of an
// application, or of all without an argument.
func chosenDeployment(l *resolve.Line) (*deckv1.Deployment, error) {
	s := l.State
	if len(l.Args()) == 0 {
		if all := s.AllDeployments(); len(all) > 0 {
			return all[0], nil
		}
		hint := "commit an application; see pipedeck apps"
		if apps := s.Applications(); len(apps) > 0 {
			hint = "commit a change, or: pipedeck sync " + text.ShellWord(apps[0].GetName())
		}
		return nil, exit.Usage(errors.New("there is no deployment yet"), hint)
	}
	target, err := l.Argument(0).Target()
	if err != nil || target.Deployment != nil {
		return target.Deployment, err
	}
	if d := s.Newest(target.Application.GetId()); d != nil {
		return d, nil
	}
	return nil, exit.Usage(fmt.Errorf("there is no deployment of %s yet", target.Application.GetName()),
		"commit a change of it, or: pipedeck sync "+text.ShellWord(s.ApplicationArgument(target.Application)))
}

// printStage prints what there is; only with follow it waits for more, until the stage has ended. It returns
// reader.ErrEnded when the environment ends first.
func (p *logPrinter) printStage(ctx context.Context, deployment string, stage *deckv1.Stage) error {
	reading := &logReading{deck: p.deck, deployment: deployment, stage: stage.GetId(), stageName: stage.GetName(),
		machine: p.machine, out: bufio.NewWriter(p.out)}
	for {
		following := p.follow && stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING
		if err := reading.read(ctx, following); err != nil || !following {
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
