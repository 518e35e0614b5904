// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

func startCases() []Case {
	return []Case{{
		ID: startID, Capability: Start, run: serves,
		Title: "starts as PipeCD's piped starts it, and reports its stages",
		Why:   "piped of PipeCD waits for ever for a plugin that does not answer, and so deploys nothing",
		Next: "run PROGRAM start --piped-plugin-service HOST:PORT --config JSON: it has to serve gRPC without TLS on " +
			"the port of the JSON",
	}, {
		ID: "start.time", Capability: Start, run: servesSoon,
		Title: "serves within 10 s of its start",
		Why:   "all deployments wait for the plugins each time that piped starts",
		Next:  "serve first, and do slow work such as downloads afterwards or at the first stage that needs it",
	}, {
		ID: "start.loopback", Capability: Start, run: listensOnLoopback,
		Title: "listens on loopback addresses alone",
		Why:   "everyone in the network can run stages with the credentials of piped, because calls have no password",
		Next: "listen on 127.0.0.1:PORT, not on :PORT or 0.0.0.0:PORT; the same goes for ports of metrics and " +
			"profiles",
	}, {
		ID: "start.port.used", Capability: Start, run: portInUse,
		Title: "ends with an error when its port is in use",
		Why: "piped talks to whatever has the port, such as an older process of the plugin, and believes that the " +
			"new " +
			"one has started",
		Next: "exit with a code that is not 0 and a message when the port cannot be listened on; do not take " +
			"another port; gRPC for Python and C++ needs the option grpc.so_reuseport=0",
	}, {
		ID: "start.side-by-side", Capability: Start, run: sideBySideStart,
		Title: "two processes of it run side by side",
		Why: "piped starts a changed plugin while the stages of the process before it finish, so an update fails " +
			"otherwise",
		Next: "use no fixed port, file or socket besides the port of the configuration",
	}, {
		ID: "start.help", Capability: Start, run: help,
		Title: "start --help prints help and ends",
		Why:   "an operator who asks for the flags would start a server, or see nothing",
		Next:  "print the usage and exit with 0 at --help",
	}, {
		ID: "start.flags.unknown", Capability: Start, run: unknownFlag,
		Title: "refuses a flag that it does not know",
		Why:   "a misspelt flag would have no effect, and no one would see it",
		Next:  "exit with a code that is not 0 and a message at an unknown flag",
	}, {
		ID: "start.arguments.none", Capability: Start, run: noArguments,
		Title: "ends by itself when it is started without arguments",
		Why:   "whoever runs the program by hand sees it hang",
		Next:  "print the usage and exit when the command start is missing",
	}, {
		ID: "start.arguments.required", Capability: Start, run: missingFlags,
		Title: "start without its flags ends with an error",
		Why:   "a plugin that guesses a port or an address serves no piped, and no one sees why",
		Next:  "require --piped-plugin-service and --config",
	}}
}

func serves(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	p.saw("serving after %s: %s", x.took.Round(time.Millisecond), strings.Join(x.stages, ", "))
	return nil
}

func servesSoon(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	const soon = 10 * time.Second
	if x.took > soon {
		return fmt.Errorf("it served %s after its start", x.took.Round(time.Millisecond))
	}
	p.saw("after %s", x.took.Round(time.Millisecond))
	return nil
}

// portInUse has the port held by a stranger, and by the plugin itself: two sockets with SO_REUSEPORT, as gRPC for
// Python and C++ opens them by default, share a port.
func portInUse(p *probe) error {
	listener, port, err := p.suite.listenFree()
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := endsAtPort(p, port, "in use"); err != nil {
		return err
	}
	x, err := p.shared()
	if errors.Is(err, errNotStarted) { // see start.serves
		return nil
	}
	if err != nil {
		return err
	}
	return endsAtPort(p, x.port, "in use by another process of the plugin")
}

func endsAtPort(p *probe, port int, taken string) error {
	x, err := p.suite.tryStart(p, port, p.suite.bounds.Start)
	switch {
	case err != nil:
		return err
	case x.ended && x.process.err == nil:
		return fmt.Errorf("it ended with exit code 0 although port %d is %s", port, taken)
	case x.ended && x.process.output.bytes() == 0:
		return fmt.Errorf("it ended without a word about the port that is %s", taken)
	case x.ended:
		p.saw("%s", x.process.end())
		return nil
	}
	return fmt.Errorf("port %d is %s, and the process goes on after %s%s", port, taken, p.suite.bounds.Start, x.where)
}

func sideBySideStart(p *probe) error {
	if _, err := p.shared(); err != nil {
		return err
	}
	x, err := p.start(setup{})
	if errors.Is(err, errNotStarted) {
		return fmt.Errorf("a second process next to the first does not start: %w", err)
	}
	if err != nil {
		return err
	}
	return x.alive()
}

func help(p *probe) error {
	process, ended, err := p.suite.try(p.ctx, p.suite.bounds.Start, "start", "--help")
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("it goes on after %s", p.suite.bounds.Start)
	case process.output.bytes() == 0:
		return errors.New("it printed nothing")
	case process.err != nil:
		return note("it ended with %s; piped does not ask for help, people do", process.end())
	}
	return nil
}

func unknownFlag(p *probe) error {
	port, err := p.suite.freePort()
	if err != nil {
		return err
	}
	config, err := p.suite.config(port)
	if err != nil {
		return err
	}
	process, err := p.suite.launch("start", "--piped-plugin-service", loopback(port), "--config", config,
		"--no-such-flag")
	if err != nil {
		return err
	}
	defer process.kill()
	for began := time.Now(); time.Since(began) < p.suite.bounds.Start && p.ctx.Err() == nil; {
		if process.wait(p.ctx, 50*time.Millisecond) {
			return refused("an unknown flag", p, process)
		}
		if speaks(loopback(port)) != "" {
			return note("it goes on after an unknown flag, and serves; piped gives it none")
		}
	}
	return note("it goes on after an unknown flag; piped gives it none")
}

func noArguments(p *probe) error {
	process, ended, err := p.suite.try(p.ctx, p.suite.bounds.Start)
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("it goes on after %s without the command start", p.suite.bounds.Start)
	}
	p.saw("%s", process.end())
	return nil
}

func missingFlags(p *probe) error { return p.refuses("a start without flags", "start") }

// refuses checks that a start ends with an error and a message.
func (p *probe) refuses(what string, args ...string) error {
	process, ended, err := p.suite.try(p.ctx, p.suite.bounds.Start, args...)
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("it goes on %s after %s", p.suite.bounds.Start, what)
	}
	return refused(what, p, process)
}

// refused checks the end of a start that must not serve.
func refused(what string, p *probe, process *process) error {
	switch {
	case process.err == nil:
		return fmt.Errorf("it ended with exit code 0 after %s", what)
	case process.output.bytes() == 0:
		return fmt.Errorf("it ended without a message after %s", what)
	}
	p.saw("%s", process.end())
	return nil
}
