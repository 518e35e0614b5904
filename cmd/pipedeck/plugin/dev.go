// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newDevCommand(t *session.Target) *cobra.Command {
	choice, output := &rerunChoice{}, format.Output{}
	cmd := &cobra.Command{
		Use: "dev NAME[=DIR]", Short: "Build, run and try a plugin at each save",
		Args: cobra.ExactArgs(1),
		Long: `Have the running environment build the plugin in DIR (default: the working directory) at each save
and run it as NAME, in place of the plugin that it has by that name or in addition. After each build,
and when you press Enter, run one stage again with the new program, as pipedeck plugin rerun does.

Start an environment first, in another terminal: pipedeck up. It runs as it would with
up --plugin NAME=DIR. Where it does not build DIR already, piped is started again for it when this
begins and when it ends; stages that run then begin again as after any restart of piped. Ctrl-C ends
it, and the environment runs what it had before.`,
		Example: `  pipedeck plugin dev greeter
  pipedeck plugin dev greeter=../greeter --stage GREET
  pipedeck plugin dev greeter --deployment hello
  pipedeck plugin dev greeter -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, dir, err := pluginDirectory(args[0])
			if err != nil {
				return err
			}
			err = t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				d := &dev{name: name, dir: dir, choice: choice, cmd: cmd, session: s, after: "nothing has changed",
					printer: &lines{out: s.Out, machine: output.Machine()}}
				return d.run(ctx, cmd.InOrStdin())
			})
			return withoutEnvironment(err, name, dir)
		},
	}
	choice.register(cmd)
	format.AddLineFlag(cmd, &output)
	return cmd
}

// pluginDirectory reads NAME or NAME=DIR.
func pluginDirectory(given string) (name, dir string, err error) {
	const hint = "give NAME or NAME=DIR, for example: pipedeck plugin dev greeter=../greeter"
	name, dir, named := strings.Cut(given, "=")
	if name == "" || strings.ContainsAny(name, `/\`) || named && dir == "" {
		return "", "", exit.Usage(fmt.Errorf("%q is not the name of a plugin with its directory", given), hint)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", exit.Usage(err, hint)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", "", exit.Usage(fmt.Errorf("%s is not a directory", dir), hint)
	}
	return name, dir, nil
}

// withoutEnvironment has the next step of someone without an environment.
func withoutEnvironment(err error, name, dir string) error {
	var failure *exit.Error
	var none *session.NotRunningError
	if errors.As(err, &failure) && errors.As(err, &none) {
		failure.Hint = fmt.Sprintf("start one in another terminal, in a repository with an application that uses "+
			"the plugin: pipedeck up --plugin %s=%s", name, dir)
	}
	return err
}

// dev is the inner loop of the author of a plugin.
type dev struct {
	name, dir string
	choice    *rerunChoice
	cmd       *cobra.Command
	session   *session.Session
	printer   *lines
	// taken is set once the environment runs the plugin; after is what it does once this has ended.
	taken bool
	after string
	// rerun is the one under way; nil for none.
	rerun *rerunUnderWay
}

// rerunUnderWay is a re-run that has begun.
type rerunUnderWay struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (r *rerunUnderWay) ended() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.done
}

func (r *rerunUnderWay) stop() {
	if r != nil {
		r.cancel()
		<-r.done
	}
}

func (d *dev) run(ctx context.Context, input io.Reader) error {
	stream, err := d.session.Development.DevelopPlugin(ctx,
		&deckv1.DevelopPluginRequest{Name: d.name, Directory: d.dir})
	if err != nil {
		return err
	}
	d.printer.line("plugin %s in %s; Enter runs the stage again, Ctrl-C ends", d.name, d.dir)
	events, failed := make(chan *deckv1.DevelopPluginResponse), make(chan error, 1)
	receiving, cancel := context.WithCancel(ctx)
	var receiver sync.WaitGroup
	defer receiver.Wait()
	defer cancel()
	receiver.Go(func() {
		for {
			response, err := stream.Recv()
			if err != nil {
				failed <- err
				return
			}
			select {
			case events <- response:
			case <-receiving.Done():
				return
			}
		}
	})
	defer func() { d.rerun.stop() }()
	keys := enters(receiving, input)
	for {
		select {
		case response := <-events:
			d.show(ctx, response)
		case <-keys:
			d.again(ctx)
		case <-d.rerun.ended():
			d.rerun = nil
		case err := <-failed:
			switch {
			case ctx.Err() != nil:
				d.printer.line("%s", d.after)
				return context.Cause(ctx)
			case errors.Is(err, io.EOF):
				return exit.With(exit.NotStarted, errors.New("the environment has ended"),
					"start it again with: pipedeck up")
			}
			return session.Unreachable(err)
		}
	}
}

// show prints what the environment reports. A new program runs the stage.
func (d *dev) show(ctx context.Context, response *deckv1.DevelopPluginResponse) {
	switch taken, ended := response.GetTaken(), response.GetEnded(); {
	case taken != nil && taken.GetRestarted():
		in := "in addition to the others"
		if taken.GetFormer() != "" {
			in = "in place of " + taken.GetFormer()
		}
		d.printer.line("piped was started again and runs it %s", in)
		d.taken, d.after = true, "piped is started again with the plugins from before"
		d.again(ctx)
	case taken != nil:
		d.printer.line("the environment builds it already; save a file, or press Enter")
		d.taken, d.after = true, "the environment goes on with it, and builds it at each save"
	case response.GetBegan() != nil:
		d.printer.event(document.NewBuildingLine(d.name, response.GetBegan()), "building")
	case ended != nil:
		took := ended.GetDuration().AsDuration().Round(10 * time.Millisecond)
		if ended.GetError() != "" {
			d.printer.event(document.NewBuildLine(d.name, ended),
				"build failed after %s; the program from before goes on; save a file, or press Enter to run the stage "+
					"again\n%s", took, indented(ended.GetError()))
			return
		}
		d.printer.event(document.NewBuildLine(d.name, ended), "build %s in %s", ended.GetBuild(), took)
		if d.taken {
			d.again(ctx)
		}
	}
}

func indented(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString("  " + text.Clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// again runs the stage once more. One that runs already is cancelled: it is of the program from before.
func (d *dev) again(ctx context.Context) {
	d.rerun.stop()
	ctx, cancel := context.WithCancel(ctx)
	running := &rerunUnderWay{cancel: cancel, done: make(chan struct{})}
	d.rerun = running
	go func() { // run waits for it
		defer close(running.done)
		defer cancel()
		if err := d.runStage(ctx); err != nil && ctx.Err() == nil {
			d.complain(err)
		}
	}()
}

// runStage runs the stage once no deployment of its application is under way: that would refuse it.
func (d *dev) runStage(ctx context.Context) error {
	state, err := stateOf(ctx, d.session, d.name)
	for err == nil {
		present := *d.session
		present.State = state
		var target rerunTarget
		if target, err = d.choice.choose(&present, d.cmd, d.name); err != nil {
			return err
		}
		if target.stage == nil {
			d.printer.line("no stage of %s has run; deploy an application that uses it, then press Enter", d.name)
			return nil
		}
		busy := underWay(state, target.deployment.GetApplicationId())
		if busy == nil {
			return rerun(ctx, &present, target, d.printer)
		}
		d.printer.line("deployment %s of %s is %s; the stage runs again when it has ended", busy.GetId(),
			busy.GetApplicationName(), document.Word(busy.GetStatus()))
		state, err = session.AwaitState(ctx, d.session.Deck, func(now *session.State) bool {
			return underWay(now, busy.GetApplicationId()) == nil
		})
	}
	return err
}

// underWay is the deployment of an application that has not ended; nil for none.
func underWay(state *session.State, application string) *deckv1.Deployment {
	for _, one := range slices.Backward(state.Deployments(application)) {
		if one.GetCompletedAt() == nil {
			return one
		}
	}
	return nil
}

// complain prints why a stage was not run again; the loop goes on. What has failed has been printed.
func (d *dev) complain(err error) {
	why, next := err, ""
	var failure *exit.Error
	if errors.As(err, &failure) {
		if failure.Err == nil {
			return
		}
		why, next = failure.Err, failure.Hint
	}
	if d.printer.machine {
		fmt.Fprintf(d.session.Err, "pipedeck: %v\n", why)
		if next != "" {
			fmt.Fprintf(d.session.Err, "next step: %s\n", next)
		}
		return
	}
	d.printer.line("the stage was not run again: %s", text.Clean(why.Error()))
	if next != "" {
		d.printer.line("next step: %s", text.Clean(next))
	}
	d.printer.line("it runs after the next build; press Enter to run the stage again now")
}

// enters receives at each line of the input until that ends.
func enters(ctx context.Context, input io.Reader) <-chan struct{} {
	keys := make(chan struct{})
	go func() { // a read from a terminal cannot be ended: this one ends with the program
		scanner := bufio.NewScanner(input)
		for scanner.Scan() {
			select {
			case keys <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return keys
}
