// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// unknownStage is the name of a stage that no plugin has.
const unknownStage = "NO_SUCH_STAGE"

func executionCases() []Case {
	return []Case{{
		ID: "execution.ends", Capability: Execution, run: executionEnds,
		Title: "runs the stage to its end",
		Why:   "the deployment waits for the stage, and fails or hangs with it",
		Next: "answer ExecuteStage with SUCCESS, FAILURE, SKIPPED or EXITED once the work is done; give options " +
			"with --with",
	}, {
		ID: "execution.failure.reason", Capability: Execution, run: failureReason,
		Title: "a stage that fails says why",
		Why:   "users see FAILURE, and nothing that would help them",
		Next:  "write an entry of the severity ERROR to the log, or answer with an error that has a message",
	}, {
		ID: "execution.unknown", Capability: Execution, run: unknownExecuted,
		Title: "does not succeed at a stage that it does not have",
		Why:   "a stage that was renamed, or sent to the wrong plugin, would pass without its work being done",
		Next:  "answer an unknown name with an error that has the name in it",
	}, {
		ID: "execution.others", Capability: Execution, run: othersAnswer,
		Title: "each of its other stages answers",
		Why:   "a stage that ends the process, or has no end, takes the stages of all deployments with it",
		Next:  "answer each stage of FetchDefinedStages; without options, a failure is enough",
	}, {
		ID: "execution.commands", Capability: Execution, run: commandsEnd,
		Title: "a stage that offers to be approved or skipped ends when it is",
		Why:   "users press the button, and nothing happens",
		Next:  "ask piped for ListStageCommands at least every 5 s while such a stage runs",
	}}
}

func executionEnds(p *probe) error {
	e, err := p.ranOnce()
	if err != nil {
		return err
	}
	switch problem := e.problem(); {
	case e.cut && p.suite.options.With != "":
		return errors.New(p.suite.cutOff())
	case e.cut:
		return skip("%s", p.suite.cutOff())
	case problem != nil:
		return problem
	case e.err != nil:
		return p.suite.unsuccessful(e.how())
	case e.failed():
		return p.suite.unsuccessful("the stage ended in " + e.how())
	}
	p.saw("%s: %s", e.stage, e.how())
	return nil
}

// failureReason looks at the ways to fail that the stage has: with options that are none, and without any.
func failureReason(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	failed := false
	for _, options := range []string{`["not", "options"]`, `{}`} {
		e, err := x.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) {
			request.Input.StageConfig = []byte(options)
		}})
		if err != nil {
			return err
		}
		if e.cut || !e.failed() {
			continue
		}
		if err := saysWhy(p, e); err != nil {
			return err
		}
		failed = true
	}
	if failed {
		return nil
	}
	e, err := p.settled()
	switch {
	case err != nil:
		return err
	case !e.failed():
		return skip("the stage does not fail")
	}
	return saysWhy(p, e)
}

// saysWhy looks for the reason of a stage that has failed.
func saysWhy(p *probe, e *execution) error {
	if p.seen == "" {
		p.saw("%s", e.how())
	}
	if e.err != nil && status.Convert(e.err).Message() != "" {
		return nil
	}
	blocks := e.session.piped.Blocks(e.id, false)
	if len(blocks) == 0 {
		return fmt.Errorf("the stage ended in %s without a line in its log", e.kind())
	}
	if !slices.ContainsFunc(blocks, func(b *model.LogBlock) bool { return strings.TrimSpace(b.GetLog()) != "" }) {
		return fmt.Errorf("the stage ended in %s, and the log has no word, only blank lines", e.kind())
	}
	return nil
}

func unknownExecuted(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	e, err := x.execute(p, order{stage: unknownStage})
	switch {
	case err != nil:
		return err
	case x.gone(e.err) != nil:
		return x.gone(e.err)
	case e.cut:
		return fmt.Errorf("for the stage %s it was still at work after %s", unknownStage, p.suite.options.RunLimit)
	case e.err == nil && !e.failed():
		return fmt.Errorf("it answers %s for the stage %s, which it does not have", e.status, unknownStage)
	case e.err != nil && !e.refused() && status.Code(e.err) != codes.Unimplemented:
		return fmt.Errorf("for the stage %s, ExecuteStage ended with %s", unknownStage, words(e.err))
	}
	p.saw("%s", e.how())
	return nil
}

// othersAnswer runs the stages that were not asked for, where that can do no harm.
func othersAnswer(p *probe) error {
	s := p.suite
	if len(s.options.Settings.DeployTargets) > 0 || s.options.Stage != "" {
		return skip("only the stage that was asked for is run")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(x.stages), func(name string) bool { return name == s.stage(x) })
	if len(others) == 0 {
		return skip("it has one stage")
	}
	for _, name := range slices.Compact(others) {
		e, err := x.execute(p, order{stage: name, edit: func(request *deployment.ExecuteStageRequest) {
			request.Input.StageConfig = []byte("{}")
		}})
		if err != nil {
			return err
		}
		if e.cut {
			p.saw("%s was cut off after %s", name, s.options.RunLimit)
			continue
		}
		if err := e.problem(); err != nil {
			return fmt.Errorf("stage %s: %w", name, err)
		}
	}
	return nil
}

// commandsEnd gives a stage the command that it offers.
func commandsEnd(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	offers := p.suite.offers(p)
	if offers != model.ManualOperation_MANUAL_OPERATION_APPROVE &&
		offers != model.ManualOperation_MANUAL_OPERATION_SKIP {
		return skip("the stage offers neither")
	}
	id := p.suite.newID()
	if offers == model.ManualOperation_MANUAL_OPERATION_SKIP { // an approval comes with each stage
		x.piped.Skip(id, "user-1")
	}
	e, err := x.execute(p, order{id: id})
	switch {
	case err != nil:
		return err
	case e.cut:
		return fmt.Errorf("it offers %s, and was still running %s after it", offers,
			e.took.Round(time.Millisecond))
	case e.problem() != nil:
		return e.problem()
	}
	p.saw("%s", e.how())
	return nil
}
