// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newRerunCommand(t *session.Target) *cobra.Command {
	choice, output := &rerunChoice{}, format.Output{}
	cmd := &cobra.Command{
		Use: "rerun [PLUGIN]", Short: "Run one stage again, apart from its deployment",
		Args: cobra.MaximumNArgs(1),
		Long: `Have the plugin execute a stage that has run once more, alone and with the same input: the same
commits, options and timeout, and directories that are prepared for it. The deployment keeps its result.
The log is printed here; pipedeck plugin calls marks the calls as a re-run.

The stage begins without its metadata. What the plugin puts, metadata and shared objects, is
forgotten at the end. What it does elsewhere, such as at its deploy target, it really does.

No deployment of the application runs meanwhile: one under way refuses a re-run, later ones wait.
Ctrl-C cancels the re-run.`,
		Example: `  pipedeck plugin rerun
  pipedeck plugin rerun greeter
  pipedeck plugin rerun greeter --stage GREET --deployment hello
  pipedeck plugin rerun -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				plugin := ""
				if len(args) > 0 {
					found, err := resolve.New(s, cmd, args).Argument(0).Plugin("")
					if err != nil {
						return err
					}
					plugin = found.GetName()
					if s.State, err = stateOf(ctx, s, plugin); err != nil {
						return err
					}
				}
				target, err := choice.choose(s, cmd, plugin)
				if err != nil {
					return err
				}
				if target.stage == nil {
					return exit.Usage(errors.New("no such stage has run"), "deploy with: pipedeck sync APP"+s.Flags)
				}
				return rerun(ctx, s, target, &lines{out: s.Out, machine: output.Machine()})
			})
		},
	}
	choice.register(cmd)
	format.AddLineFlag(cmd, &output)
	return cmd
}

// rerun prints a re-run as it goes. A stage that fails is an error that has been printed.
func rerun(ctx context.Context, s *session.Session, target rerunTarget, p *lines) error {
	d, stage := target.deployment, target.stage
	stream, err := s.Development.RerunStage(ctx,
		&deckv1.RerunStageRequest{DeploymentId: d.GetId(), StageId: stage.GetId()})
	if err != nil {
		return err
	}
	why := ""
	if target.why != "" {
		why = ": " + target.why
	}
	p.line("re-run of %s of %s (deployment %s: %s)%s", state.StageWord(stage), d.GetApplicationName(), d.GetId(),
		document.Word(d.GetStatus()), why)
	began := &deckv1.RerunBegan{}
	for {
		response, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the environment ended the re-run without a result")
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return session.Unreachable(err)
		}
		switch result := response.GetResult(); {
		case response.GetBegan() != nil:
			began = response.GetBegan()
			p.event(document.NewRerunLine(d, stage, began, nil), "plugin %s, build %s", began.GetPlugin(),
				began.GetBuild())
		case response.GetLog() != nil:
			p.log(response.GetLog(), stage.GetName())
		case result != nil:
			p.event(document.NewRerunLine(d, stage, began, result), "%s", resultText(d, result))
			switch result.GetStatus() {
			case deckv1.StageStatus_STAGE_STATUS_SUCCESS, deckv1.StageStatus_STAGE_STATUS_SKIPPED,
				deckv1.StageStatus_STAGE_STATUS_EXITED:
				return nil
			}
			return exit.Silent(exit.Failed)
		}
	}
}

func resultText(d *deckv1.Deployment, r *deckv1.RerunResult) string {
	text := document.Word(r.GetStatus())
	if r.GetDuration() != nil {
		text += " after " + r.GetDuration().AsDuration().Round(time.Millisecond).String()
	}
	if r.GetReason() != "" {
		text += ": " + r.GetReason()
	}
	text += "; the deployment stays " + document.Word(d.GetStatus())
	if n := r.GetForgotten(); n > 0 {
		text += fmt.Sprintf(", values put and forgotten: %d", n)
	}
	return text
}

// lines prints lines for people or for machines, one at a time.
type lines struct {
	out     io.Writer
	machine bool
	mu      sync.Mutex
}

// line prints something that machines do not get.
func (p *lines) line(format string, args ...any) {
	if !p.machine {
		p.write(time.Now().Local().Format("15:04:05.000") + "  " + fmt.Sprintf(format, args...) + "\n")
	}
}

// event prints a line for machines, or its text for people.
func (p *lines) event(line any, text string, args ...any) {
	if !p.machine {
		p.line(text, args...)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = format.Line(p.out, line) // as for all output, the error is one of the writer, which reports it
}

func (p *lines) log(block *deckv1.LogBlock, stage string) {
	if p.machine {
		p.event(document.NewLogLine(block.GetTime().AsTime(), block, stage), "")
		return
	}
	for line := range strings.Lines(block.GetText()) {
		p.write("  " + text.Clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
}

func (p *lines) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, text)
}
