// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/process"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/freeport"
	"github.com/pipedeck/pipedeck/system/processtree"
	"github.com/pipedeck/pipedeck/system/servicefile"
)

const (
	// pipedGrace covers the grace that piped gives to its plugins.
	pipedGrace = 8 * time.Second
	// exitUsage is piped's exit code for a configuration it cannot use.
	exitUsage = 2
	// A piped that never connected is given up when it ends more often than restartLimit within restartWindow.
	restartLimit  = 5
	restartWindow = time.Minute
	// restartPause doubles with each recent end, up to longestPause.
	restartPause, longestPause = 200 * time.Millisecond, 10 * time.Second
	// bootTime is how long piped may take to connect to the control plane.
	bootTime = 12 * time.Second
	// silentTime is how long piped may take to report the first application of a repository that has some.
	silentTime = 30 * time.Second
)

// runPiped keeps piped running until ctx ends.
func (e *Environment) runPiped(ctx context.Context) error {
	if !e.awaitClusters(ctx) {
		return nil
	}
	e.components.starting(componentPiped, "starting")
	var listening sync.WaitGroup
	defer listening.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	listening.Go(func() { e.watchSilence(ctx, cmp.Or(e.silence, silentTime)) })
	args, err := e.pipedArguments()
	if err != nil {
		return &StartError{componentPiped, err, ""}
	}
	// A piped that had to be killed may have left plugins.
	defer func() { endTree(context.WithoutCancel(ctx), e.Workspace.PipedDir()) }()
	crashes := process.Crashes{Limit: restartLimit, Window: restartWindow, Pause: restartPause, Longest: longestPause}
	// worked: piped has connected once, so what ends it now may pass, such as a full disk or too many processes.
	worked := false
	ready := func() { worked = true; crashes.Ready() }
	for {
		if e.development.renewed() {
			if args, err = e.pipedArguments(); err != nil {
				return &StartError{componentPiped, err, ""}
			}
		}
		piped, failure := e.startPiped(args)
		if failure != nil && !worked {
			return &StartError{componentPiped, failure, "build it with: make build"}
		}
		summary := fmt.Sprint(failure)
		if failure == nil {
			switch e.watchPiped(ctx, piped, ready) {
			case pipedStopped:
				return nil
			case pipedRenewed:
				continue
			}
			failure, summary = piped.Err(), piped.Summary()
			// The Go runtime ends a program that panics with the same exit code, so only a piped that never worked has
			// a configuration that it cannot use.
			if piped.ExitCode() == exitUsage && !worked {
				return &StartError{componentPiped, failure, "correct the configuration and start again"}
			}
		}
		recent, wait, giveUp := crashes.Ended(time.Now())
		if giveUp {
			return e.givenUp(failure)
		}
		e.Logger.Error("piped ended and is started again", "error", failure)
		e.pipedProblem("it ended and is started again: "+summary, "")
		e.components.starting(componentPiped,
			fmt.Sprintf("it ended unexpectedly (%d in the last minute) and is started again", recent))
		if !clock.Sleep(ctx, wait) {
			e.components.stopped(componentPiped)
			return nil
		}
	}
}

// givenUp is the error of a piped that ends again and again, with the cause and next step that the control plane knows:
// the last lines of a piped of PipeCD that is refused do not say so.
func (e *Environment) givenUp(last error) error {
	if known := e.server.PipedProblem(); known != nil {
		return &StartError{componentPiped, fmt.Errorf("it keeps dying: %s; %w", known.GetReason(), last),
			known.GetNextStep()}
	}
	return &StartError{componentPiped, fmt.Errorf("it keeps dying: %w", last), e.seeLogs()}
}

// awaitClusters holds back a foreign piped until all clusters are ready: PipeCD's plugins give up when their cluster
// does not answer, and its piped waits for them for ever. It returns false when ctx has ended.
func (e *Environment) awaitClusters(ctx context.Context) bool {
	if !e.ForeignPiped {
		return true
	}
	for _, c := range e.clusters {
		e.components.starting(componentPiped, "waiting until "+c.component+" is ready")
		if await(ctx, c.ready) != nil {
			return false
		}
	}
	return true
}

// unreported says what the state of a piped leaves open: one that is not ours may not report its plugins.
func unreported(foreign bool) string {
	if !foreign {
		return ""
	}
	return "; the state of its plugins is unknown unless it reports them"
}

// partApplications are the applications that piped has to report.
const partApplications = "applications"

// watchSilence reports a piped that has not reported any application of a repository with some for too long.
func (e *Environment) watchSilence(ctx context.Context, tooLong time.Duration) {
	if len(e.repository.Load().Applications) == 0 || selects(e) {
		return
	}
	defer e.server.ClearProblem(partApplications)
	bounded, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	if e.server.AwaitApplication(bounded) == nil || ctx.Err() != nil {
		return
	}
	log := e.Workspace.Path("logs", "piped.log")
	e.Logger.Warn("piped has reported no application", "after", tooLong, "log", log)
	e.server.SetProblem(store.Problem{
		Part: partApplications, Component: componentPiped,
		Reason: fmt.Sprintf("piped has reported no application for %s, see %s", tooLong, log),
		NextStep: "read " + log +
			" and the logs of the plugins next to it, fix the cause, then run: " + e.startAgain(),
	})
	_ = e.server.AwaitApplication(ctx) // ends with ctx, too
}

// selects reports whether piped may leave out all applications of the repository, because of their labels.
func selects(e *Environment) bool {
	if e.PipedSpec == nil {
		return false
	}
	_, selects := e.PipedSpec(e.repository.Load())["appSelector"]
	return selects
}

// pipedEnd is why a piped has ended.
type pipedEnd int

const (
	pipedFailed pipedEnd = iota
	// pipedStopped: the environment ends.
	pipedStopped
	// pipedRenewed: it is started again with other plugins.
	pipedRenewed
)

// watchPiped waits until piped ends, and calls ready when it has connected.
func (e *Environment) watchPiped(ctx context.Context, piped *process.Process, ready func()) pipedEnd {
	boot := time.NewTimer(bootTime)
	defer boot.Stop()
	for {
		select {
		case <-boot.C:
			e.pipedProblem(fmt.Sprintf("its process (pid %d) has not connected to the control plane within %s",
				piped.PID(), bootTime),
				fmt.Sprintf("; when it hangs, end it, and it is started again: kill -9 %d", piped.PID()))
		case version := <-e.connected:
			boot.Stop()
			ready()
			e.development.pipedConnected()
			e.server.ClearProblem(partPiped)
			e.components.ready(componentPiped,
				fmt.Sprintf("%s, pid %d%s", version, piped.PID(), unreported(e.ForeignPiped)))
		case <-piped.Done():
			return pipedFailed
		case <-e.development.changed:
			if !e.development.renewed() {
				continue // an end of piped came first
			}
			e.components.starting(componentPiped, "started again with other plugins")
			piped.Stop(ctx, pipedGrace)
			return pipedRenewed
		case <-ctx.Done():
			piped.Stop(context.Background(), pipedGrace)
			e.components.stopped(componentPiped)
			return pipedStopped
		}
	}
}

// partPiped is piped as this process sees it: as a process. What it does is reported by its heartbeats.
const partPiped = "piped process"

// pipedProblem reports a problem of the process. What a user does is to read its log, and then what "then" adds.
func (e *Environment) pipedProblem(reason, then string) {
	e.server.SetProblem(store.Problem{
		Part: partPiped, Component: componentPiped, Reason: reason, NextStep: "read its log: " +
			e.Workspace.Path("logs", "piped.log") + then,
	})
}

// faultsVariable has the rules for faults of piped, one a line; it is that of package piped/fault.
const faultsVariable = "PIPED_FAULTS"

// reattachVariable names the file with the processes of plugins that authors have started; it is that of package
// piped/pluginhost/reattach.
const reattachVariable = "PIPEDECK_REATTACH_FILE"

func (e *Environment) startPiped(args []string) (*process.Process, error) {
	environment := []string{servicefile.Variable + "=" + e.addresses.file(),
		reattachVariable + "=" + workspace.ReattachFile(e.Workspace)}
	if len(e.Faults) > 0 {
		environment = append(environment, faultsVariable+"="+strings.Join(e.Faults, "\n"))
	}
	if e.ForeignPiped {
		// PipeCD's piped has no flag for its directory: it writes below HOME and TMPDIR.
		home, temporary := filepath.Join(e.Workspace.PipedDir(), "home"), filepath.Join(e.Workspace.PipedDir(), "tmp")
		for _, dir := range []string{home, temporary} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, fmt.Errorf("create a directory for piped: %w", err)
			}
		}
		// Its plugins do not notice when it is killed. They and what they start are found by the tree.
		tree, err := processtree.Keep(filepath.Join(e.Workspace.PipedDir(), processtree.FileName))
		if err != nil {
			return nil, err
		}
		environment = append(environment, "HOME="+home, "TMPDIR="+temporary, tree.Environment())
	}
	piped, err := process.Start(process.Spec{
		Name: "piped", Path: e.Piped, Args: args, Env: environment, Dir: e.PipedDir,
		LogFile: e.Workspace.Path("logs", "piped.log"),
	})
	if err != nil {
		return nil, err
	}
	e.childStarted("piped")(piped.PID())
	e.server.OwnPipedStarted(piped.PID())
	return piped, nil
}

// pipedArguments writes the configuration and returns the command line that uses it.
func (e *Environment) pipedArguments() ([]string, error) {
	plugins := e.development.present()
	config := workspace.PipedConfig{Address: e.address, Repository: e.repository.Load(), Plugins: plugins,
		Clusters: e.clusters.names()}
	switch {
	case e.tree != nil:
		config.Snapshots = e.tree.Repository()
	case e.commits != nil:
		config.Snapshots = e.commits.pointer.Repository()
	}
	if e.PipedSpec != nil {
		config.Spec = e.PipedSpec(config.Repository)
	}
	pluginPort, adminPort := 0, 0
	if e.ForeignPiped {
		ports, err := freePorts(len(plugins) + 2)
		if err != nil {
			return nil, fmt.Errorf("ports for piped: %w", err)
		}
		pluginPort, adminPort = ports[0], ports[1]
		config.Ports = ports[2:]
	}
	if err := e.Workspace.WritePipedConfig(config); err != nil {
		return nil, err
	}
	args := []string{
		"run", "--config-file", e.Workspace.PipedConfig(), "--insecure",
		"--plugin-service-port", strconv.Itoa(pluginPort), "--admin-port", strconv.Itoa(adminPort),
	}
	if !e.ForeignPiped {
		args = append(args, "--work-dir", e.Workspace.PipedDir(), "--log-file-dir", e.Workspace.PluginLogsDir(),
			"--grace-period", (pipedGrace / 2).String(), "--exit-with-stdin")
		if e.PluginStart > 0 {
			args = append(args, "--plugin-start-timeout", e.PluginStart.String())
		}
	}
	return args, nil
}

// freePorts returns ports that no one uses, which only a foreign piped needs.
func freePorts(n int) (ports []int, err error) {
	for range n {
		port, err := freeport.Choose()
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}
