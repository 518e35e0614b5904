// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/eventwatcher"
	"github.com/pipedeck/pipedeck/piped/livestate"
	"github.com/pipedeck/pipedeck/piped/planpreview"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/rerun"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/trigger"
	"github.com/pipedeck/pipedeck/system/clock"
)

// ErrRestart is the cause of a stop that the control plane asked for; something else must start piped
// again (PipeCD v1).
var ErrRestart = errors.New("the control plane asked for a restart")

// feed fetches what the watcher says has changed, and hands it to those who act on it.
type feed struct {
	controlPlane pipedservice.PipedServiceClient
	watcher      *controlplane.Watcher
	controller   *scheduler.Controller
	commands     *pluginservice.Commands
	trigger      *trigger.Trigger
	previews     *planpreview.Maker
	live         *livestate.Reporter
	events       *eventwatcher.Watcher
	plugins      *pluginhost.Host
	calls        *plugincalls.Answerer
	reruns       *rerun.Runner
	faults       *faultReporter
	breakpoints  *breakpoint.Set
	logger       *slog.Logger
	// listed gets the outcome of each try to read a list.
	listed func(list string, err error)
	// concluded: what an earlier piped has left unfinished was corrected.
	concluded bool
	// restart is called when the control plane asks for a restart of piped.
	restart context.CancelCauseFunc
}

// Run feeds until ctx ends. restart is called when the control plane asks for a restart of piped.
func (f *feed) Run(ctx context.Context, restart context.CancelCauseFunc) error {
	f.restart = restart
	subscription := f.watcher.Subscribe()
	defer subscription.Close()
	defer f.calls.Wait()
	defer f.reruns.Wait()
	follow(ctx, subscription, clock.System{}, f.deal)
	return nil
}

// deal acts on a change, and gives back the lists that could not be read.
func (f *feed) deal(ctx context.Context, change controlplane.Change) (left controlplane.Change) {
	for _, name := range change.RestartPlugins {
		if err := f.plugins.Restart(name); err != nil {
			f.logger.Warn("a plugin that should be restarted is not known", "error", err)
		}
	}
	if change.Breakpoints != nil { // before deployments begin
		f.breakpoints.Replace(change.Breakpoints.GetBreakpoints())
	}
	for _, question := range change.PluginCalls {
		f.calls.Answer(ctx, question)
	}
	for _, wanted := range change.StageReruns {
		f.reruns.Begin(ctx, wanted)
	}
	f.live.LookNow(change.Looks)
	f.faults.take(change.Faults, change.Again)
	if change.Applications {
		f.trigger.ApplicationsChanged()
		f.live.ApplicationsChanged()
	}
	if change.Events {
		f.events.Changed()
	}
	if change.Deployments {
		left.Deployments = !f.deployments(ctx)
	}
	if change.Commands {
		left.Commands = !f.handle(ctx)
	}
	return left
}

// deployments submits all deployments that have not ended; false when they could not be listed.
func (f *feed) deployments(ctx context.Context) bool {
	open, err := controlplane.OpenDeployments(ctx, f.controlPlane)
	if ctx.Err() == nil {
		f.listed("deployments", err)
	}
	if err != nil {
		if ctx.Err() == nil {
			f.logger.Warn("could not list the deployments; it is tried again", "error", err)
		}
		return false
	}
	if !f.concluded {
		if err := f.controller.ConcludeLeftovers(ctx, open); err != nil && ctx.Err() == nil {
			f.logger.Warn("could not correct applications that an earlier piped has left as deploying; it is tried "+
				"again with the next list", "error", err)
		} else {
			f.concluded = true
		}
	}
	f.controller.Begin(open...)
	return true
}

// handle passes commands on, and answers those that no one here carries out, so that no user waits for
// ever. False when they could not be listed.
func (f *feed) handle(ctx context.Context) bool {
	answer, err := f.controlPlane.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
	if ctx.Err() == nil {
		f.listed("commands", err)
	}
	if err != nil {
		if ctx.Err() == nil {
			f.logger.Warn("could not list the commands; it is tried again", "error", err)
		}
		return false
	}
	f.commands.Replace(answer.GetCommands())
	f.controller.HandleCommands(ctx, answer.GetCommands())
	f.trigger.HandleCommands(answer.GetCommands())
	f.previews.HandleCommands(ctx, answer.GetCommands())
	for _, command := range answer.GetCommands() {
		if command.GetType() == model.Command_RESTART_PIPED {
			f.report(ctx, command, model.CommandStatus_COMMAND_SUCCEEDED, command.GetId())
			f.restart(ErrRestart)
		} else if why := refusal(command); why != "" {
			f.report(ctx, command, model.CommandStatus_COMMAND_FAILED, why)
		}
	}
	return true
}

// refusal says why no one here carries out a command; empty when someone does, who also answers it.
func refusal(command *model.Command) string {
	_, known := model.Command_Type_name[int32(command.GetType())]
	switch {
	case !known:
		return fmt.Sprintf("this piped does not know commands of type %d: use a newer one", command.GetType())
	case command.GetType() == model.Command_UPDATE_APPLICATION_CONFIG:
		return "this piped does not change application configurations: edit them in Git"
	default:
		return ""
	}
}

func (f *feed) report(ctx context.Context, command *model.Command, status model.CommandStatus, output string) {
	_, err := f.controlPlane.ReportCommandHandled(ctx, &pipedservice.ReportCommandHandledRequest{
		CommandId: command.GetId(), Status: status, HandledAt: time.Now().Unix(), Output: []byte(output),
	})
	if err != nil {
		f.logger.Error("report of a handled command failed", "command", command.GetId(), "error", err)
	}
}
