// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"syscall"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

func processCases() []Case {
	return []Case{{
		ID: "process.sigterm", Capability: Process, run: sigterm,
		Title: "ends after SIGTERM, with exit code 0 or by the signal",
		Why:   "piped waits for it at each stop and each update, and takes another exit code for a crash",
		Next:  "stop the server and exit with 0 at SIGTERM",
	}, {
		ID: "process.sigterm.busy", Capability: Process, run: sigtermBusy,
		Title: "ends within the grace period after SIGTERM while a stage runs",
		Why:   "piped kills it then, and what the stage holds stays as it is",
		Next:  "cancel the stages at SIGTERM; the stage is run again as the next attempt",
	}, {
		ID: "process.sigterm.stage", Capability: Process, run: sigtermStage,
		Title: "a stage that runs at SIGTERM answers, or completes its log, before the process ends",
		Why:   "the last lines of the stage are lost, and what it held is left as it is",
		Next:  "cancel the stages at SIGTERM, and exit when they have answered",
	}, {
		ID: "process.sigint", Capability: Process, run: sigint,
		Title: "ends after SIGINT",
		Why:   "who runs piped in a terminal cannot stop it with Ctrl-C",
		Next:  "treat SIGINT as SIGTERM",
	}, {
		ID: "process.restart", Capability: Process, run: restartOnPort,
		Title: "starts again on the same port right after its end",
		Why:   "piped starts a plugin again on the port of its configuration; it would fail for a minute",
		Next:  "set SO_REUSEADDR, as gRPC libraries do, and leave no process behind that holds the port",
	}, {
		ID: "process.piped-gone", Capability: Process, run: pipedGone,
		Title: "ends when piped is gone",
		Why:   "a plugin that outlives a killed piped keeps its port and works on, and the next piped talks to it",
		Next: "end when the pipe whose number is in PIPEDECK_PARENT_FD ends; where there is none, when the parent " +
			"process changes",
	}, {
		ID: "process.output", Capability: Process, run: outputClean, last: true,
		Title: "prints text, and not much of it",
		Why:   "what a plugin prints is mixed into the log of piped",
		Next:  "print lines of UTF-8 text about the process alone; the log of a stage goes to piped",
	}, {
		ID: "process.idle", Capability: Process, run: idle,
		Title: "does nothing while it has nothing to do",
		Why:   "each plugin of each piped takes a processor for itself",
		Next:  "wait for events rather than look for them in a loop",
	}}
}

func sigterm(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	if err := x.terminate(p.ctx); err != nil {
		return err
	}
	p.saw("after %s", x.took.Round(time.Millisecond))
	return nil
}

func sigtermBusy(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	held, err := busy(p, x)
	if err != nil {
		return err
	}
	err = x.terminate(p.ctx)
	held.finish()
	if err != nil {
		return at(held.lull, fmt.Errorf("while a stage runs: %w", err))
	}
	p.saw("after %s", x.took.Round(time.Millisecond))
	return nil
}

// busy has the stage at work: in its lull, or from its first request on. It may ask piped for nothing, or for something
// later.
func busy(p *probe, x *session) (*pending, error) {
	if l := usualLull(p); l != nil {
		return midway(p, x, l, order{})
	}
	held, err := p.begin(x, order{})
	if err != nil {
		return nil, err
	}
	select {
	case <-held.gate.begun:
	case e := <-held.ended:
		held.ended <- e
	case <-time.After(2 * time.Second):
	}
	held.gate.release() // it goes on with its work
	return held, nil
}

func sigtermStage(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	held, err := stopMoment(p, x, order{})
	if err != nil {
		return err
	}
	if !held.begun() {
		held.finish()
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	stopped := make(chan error, 1)
	go func() { stopped <- x.terminate(p.ctx) }()
	p.pause(200 * time.Millisecond)
	held.gate.release()
	<-stopped // process.sigterm.busy looks at that
	select {  // the end of the connection may be seen after that of the process
	case e := <-held.ended:
		held.ended <- e
	case <-time.After(p.suite.bounds.Quiet):
	}
	e := held.finish()
	some, all := len(x.piped.Blocks(held.id, false)), len(first.session.piped.Blocks(first.id, false))
	switch {
	case all == 0:
		return skip("the stage writes no log")
	case e.err == nil && e.status == model.StageStatus_STAGE_SUCCESS && some*2 < all:
		return fmt.Errorf("at SIGTERM the stage answered SUCCESS, with %d of the %d entries of its log: piped takes "+
			"work that was broken off for done", some, all)
	case status.Code(e.err) == codes.Canceled && !e.cut: // by the plugin: piped has not cancelled it
		p.saw("ExecuteStage ended with %s, and the log has %d of %d entries", words(e.err), some, all)
		return nil
	case e.err == nil || e.refused() || x.piped.Completed(held.id) || x.process.running():
		return nil
	}
	return at(held.lull, fmt.Errorf("at SIGTERM the process ended (%s) in the middle of a stage: ExecuteStage ended "+
		"with %s and the log was not completed, it has %d of %d entries", x.process.end(), words(e.err), some, all))
}

func sigint(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	_ = syscall.Kill(x.process.command.Process.Pid, syscall.SIGINT)
	if !x.process.wait(p.ctx, p.suite.bounds.Grace) {
		return fmt.Errorf("it goes on %s after SIGINT", p.suite.bounds.Grace)
	}
	p.saw("%s", x.process.end())
	return nil
}

func restartOnPort(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	port := x.port
	_ = x.terminate(p.ctx) // process.sigterm looks at that
	x.process.kill()
	again, err := p.start(setup{port: port})
	if err != nil {
		return fmt.Errorf("on the port %d, which it has had before: %w", port, err)
	}
	return again.alive()
}

// pipedGone kills the parent of the program, and ends all by which it could notice piped.
func pipedGone(p *probe) error {
	if !observable {
		return skip("the processes of a parent that is gone are seen on Linux alone")
	}
	x, err := p.start(setup{orphanable: true})
	if err != nil {
		return err
	}
	_ = syscall.Kill(x.process.command.Process.Pid, syscall.SIGKILL) // the shell in the place of piped
	_ = x.parent.Close()
	_ = x.piped.Close()
	began := time.Now()
	for time.Since(began) < p.suite.bounds.Stop && p.ctx.Err() == nil {
		if len(markedPids(x.process.mark)) == 0 {
			p.saw("after %s", time.Since(began).Round(time.Millisecond))
			return nil
		}
		p.pause(20 * time.Millisecond)
	}
	return fmt.Errorf("it goes on %s after piped was killed, and holds the port %d", p.suite.bounds.Stop, x.port)
}

func outputClean(p *probe) error {
	e, err := p.ranOnce()
	if err != nil {
		return err
	}
	const most = 1 << 20
	for _, x := range p.suite.sessions() {
		text := x.process.output.text()
		if printed := x.process.output.bytes(); printed > most {
			return fmt.Errorf("it printed %d bytes, such as %q", printed, x.process.output.lastLine())
		}
		if !utf8.ValidString(text) {
			return fmt.Errorf("it prints bytes that are no UTF-8")
		}
		for _, r := range text {
			if r < ' ' && r != '\n' && r != '\t' && r != '\r' {
				return fmt.Errorf("it prints the control character %q; a terminal or a file of piped's log takes it "+
					"for a command",
					r)
			}
		}
		p.saw("%d bytes", len(text))
	}
	_ = e
	return nil
}

func idle(p *probe) error {
	if !observable {
		return skip("the time of a process is seen on Linux alone")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	pid := x.process.command.Process.Pid
	p.pause(500 * time.Millisecond) // what belongs to the start
	before, ok := processorUse(pid)
	p.pause(time.Second)
	after, okToo := processorUse(pid)
	if died := x.alive(); died != nil {
		return died
	}
	if !ok || !okToo {
		return skip("the time of a process is not seen here")
	}
	// A busy loop wants a whole processor, also on a busy machine, where it waits for it most of the time. So does what
	// wakes up once, which does not use it then.
	const most, some = 500 * time.Millisecond, 40 * time.Millisecond
	ran := after.ran - before.ran
	if wanted := ran + after.waited - before.waited; wanted > most && ran > some {
		return fmt.Errorf("it wanted %s of a processor in a second without a request", wanted.Round(time.Millisecond))
	}
	p.saw("%s of a processor in a second", ran.Round(time.Millisecond))
	return nil
}
