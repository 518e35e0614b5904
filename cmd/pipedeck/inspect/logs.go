// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/system/exhaustion"
	"github.com/pipedeck/pipedeck/system/filewatch"
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
			if plugin != "" {
				return exit.Explain(cmd.Context(), pluginLog(cmd.Context(), t, plugin, follow, cmd.OutOrStdout()))
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return exit.Explain(cmd.Context(), stageLogs(cmd.Context(), t, name, stage, follow, cmd.OutOrStdout()))
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "", "only this stage, by its id or type")
	cmd.Flags().StringVar(&plugin, "plugin", "", "the output of this plugin's process")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the stage has ended, or for a plugin until Ctrl-C")
	return cmd
}

func stageLogs(ctx context.Context, t *session.Target, name, stage string, follow bool, out io.Writer) error {
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
	p := &logPrinter{deck: deck, stage: stage, follow: follow, flags: t.Flags(), out: out}
	return p.print(ctx, deployment)
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
	out   io.Writer
}

// print prints the logs of the stages that have begun.
func (p *logPrinter) print(ctx context.Context, deployment *deckv1.Deployment) error {
	found := false
	var names []string
	for _, st := range deployment.Stages {
		names = append(names, state.StageWord(st))
		if p.stage != "" && !state.IsStage(st, p.stage) ||
			st.Status == deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			continue
		}
		found = true
		fmt.Fprintf(p.out, "==> %s %s: %s\n", deployment.ApplicationName, state.StageWord(st), reader.Name(st.Status))
		if err := p.printStage(ctx, deployment.Id, st); err != nil {
			return err
		}
	}
	switch {
	case found:
		return nil
	case p.stage != "" && len(names) > 0:
		return exit.Usage(fmt.Errorf("stage %q has no log in the newest deployment of %s", p.stage,
			deployment.ApplicationName), session.Choices("stage", names))
	}
	_, err := fmt.Fprint(p.out, withoutStages(deployment, p.flags))
	return err
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

func newestDeployment(s *session.State, name string) (*deckv1.Deployment, error) {
	if name != "" {
		app, err := s.FindApplication(name)
		if err != nil {
			return nil, err
		}
		name = app.Id
	}
	for _, d := range s.AllDeployments() {
		if name == "" || d.ApplicationId == name {
			return d, nil
		}
	}
	return nil, exit.Usage(errors.New("there is no deployment yet"), "commit something, or: pipedeck sync APP")
}

// printStage prints what there is; only with follow it waits for more, while the stage runs.
func (p *logPrinter) printStage(ctx context.Context, deployment string, stage *deckv1.Stage) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.deck.WatchStageLog(watching, &deckv1.WatchStageLogRequest{DeploymentId: deployment,
		StageId: stage.Id})
	if err != nil {
		return session.Refusal(err)
	}
	running := stage.Status == deckv1.StageStatus_STAGE_STATUS_RUNNING
	lines, begun := bufio.NewWriter(p.out), false
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return session.Refusal(err)
		}
		if response.Truncated && !begun {
			fmt.Fprintln(lines, "(the beginning of this log is not kept)")
		}
		begun = true
		for _, block := range response.Blocks {
			fmt.Fprintf(lines, "%s %s\n", block.Time.AsTime().Local().Format("15:04:05"),
				strings.TrimRight(text.Clean(block.Text), "\n"))
		}
		if err := lines.Flush(); err != nil {
			return err
		}
		if response.Completed || response.Last && (!running || !p.follow) {
			return nil
		}
	}
}

// pluginLog prints the file in which piped keeps a plugin's output.
func pluginLog(ctx context.Context, t *session.Target, plugin string, follow bool, out io.Writer) error {
	w, err := t.Workspace()
	if err != nil {
		return err
	}
	if filepath.Base(plugin) != plugin {
		return exit.Usage(fmt.Errorf("%q is not the name of a plugin", plugin), "see pipedeck plugins")
	}
	path := filepath.Join(w.PluginLogsDir(), plugin+".log")
	file, err := os.Open(path)
	if err != nil {
		return exit.Usage(fmt.Errorf("plugin %q has written nothing", plugin),
			session.Choices("plugin", writingPlugins(w.PluginLogsDir())))
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	if !follow {
		return printLines(out, lines)
	}
	watcher := filewatch.New(filewatch.Options{Most: 1})
	defer watcher.Close()
	if err := watcher.Add(path); err != nil {
		return exit.With(exit.NotStarted, err, exhaustion.WatchAdvice(err))
	}
	for {
		if err := printLines(out, lines); err != nil {
			return err
		}
		if err := printRotated(out, file, lines); err != nil {
			return err
		}
		select {
		case <-watcher.Events():
		case <-watcher.Lost():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// printRotated prints what a log has got since it was read to its end, when it was rotated meanwhile: owned.Log empties
// the file after it has copied the lines.
func printRotated(out io.Writer, file *os.File, lines *bufio.Reader) error {
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err != nil || info.Size() >= at {
		return err
	}
	if before, err := os.Open(file.Name() + ".1"); err == nil {
		defer before.Close()
		info, err := before.Stat()
		if err != nil {
			return err
		}
		if err := printLines(out, bufio.NewReader(io.NewSectionReader(before, at,
			max(0, info.Size()-at)))); err != nil {
			return err
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	lines.Reset(file)
	return printLines(out, lines)
}

// writingPlugins names those that have written something.
func writingPlugins(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".log"))
	}
	return names
}

// printLines prints up to the end of what is there. The end may be in the middle of a line.
func printLines(out io.Writer, lines *bufio.Reader) error {
	for {
		line, err := lines.ReadSlice('\n')
		if _, writeErr := io.WriteString(out, text.Clean(string(line))); writeErr != nil {
			return writeErr
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // a long line goes on in the next part
			return err
		}
	}
}
