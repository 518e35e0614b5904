// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func pipedCases() []Case {
	return []Case{{
		ID: "piped.old", Capability: Piped, run: oldPiped,
		Title: "runs under PipeCD's piped, which has fewer services than ours",
		Why:   "every stage would fail after a move to PipeCD",
		Next:  "treat Unimplemented from a service of pipedeck as a service that is not there",
	}, {
		ID: "piped.late", Capability: Piped, run: latePiped,
		Title: "waits for a piped whose service answers a moment after the start of the plugin",
		Why:   "on a busy machine the plugin would be started again and again",
		Next:  "connect without a short deadline, and try again",
	}, {
		ID: "piped.missing-methods", Capability: Piped, run: missingMethods,
		Title: "Unimplemented from piped does not end the process",
		Why:   "an older piped lacks methods; the stages of all deployments would end",
		Next:  "answer the stage with the error when the method is needed, and go on without it otherwise",
	}, {
		ID: "piped.name", Capability: Piped, run: anotherName,
		Title: "runs under whatever name piped gives it",
		Why:   "the name is the choice of who configures piped",
		Next:  "take the name from --config",
	}}
}

// under runs the stage under another piped and compares its end with the usual one.
func (p *probe) under(what string, how setup) (*execution, error) {
	first, err := p.settled()
	if err != nil {
		return nil, err
	}
	x, err := p.start(how)
	if err != nil {
		return nil, fmt.Errorf("under %s: %w", what, err)
	}
	e, err := x.execute(p, order{})
	switch {
	case err != nil:
		return nil, err
	case x.gone(e.err) != nil:
		return nil, x.gone(e.err)
	case e.kind() != first.kind():
		return e, fmt.Errorf("under %s the stage ended in %s, and in %s otherwise: %s", what, e.kind(), first.kind(),
			e.how())
	}
	p.saw("%s", e.how())
	return e, nil
}

func oldPiped(p *probe) error {
	_, err := p.under("PipeCD's piped", setup{old: true})
	return err
}

func latePiped(p *probe) error {
	_, err := p.under("a piped whose service answers late", setup{late: true})
	return err
}

func missingMethods(p *probe) error {
	e, err := p.under("a piped without metadata and commands", setup{fail: func(c call) error {
		if strings.Contains(c.method, "Metadata") || strings.Contains(c.method, "Commands") {
			return status.Errorf(codes.Unimplemented, "unknown method %s", c.method)
		}
		return nil
	}})
	if e != nil && err != nil && (e.failed() || e.cut) {
		return note("it needs the methods: %s", e.how())
	}
	return err
}

func anotherName(p *probe) error {
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		return skip("its deploy targets are given to it by its name")
	}
	_, err := p.under("the name "+"another-name", setup{settings: func(settings *sdk.Settings) {
		settings.Name = "another-name"
	}})
	return err
}
