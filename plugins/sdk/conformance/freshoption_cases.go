// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// freshOptions runs the stage, and then with other options: some that no stage can take, and some that it takes.
func freshOptions(p *probe) error {
	first, err := p.settled()
	switch {
	case err != nil:
		return err
	case first.failed():
		return skip("the stage does not succeed, see execution.ends")
	case !readsOptions(p, first.stage):
		return skip("the stage is not known to have options")
	}
	wrong, other := freshAfterWrong(p), freshAfterOther(p, first)
	var v *verdict
	switch {
	case wrong != nil && !errors.As(wrong, &v):
		return wrong
	case wrong != nil && other != nil && !errors.As(other, &v):
		return other
	case wrong != nil && other != nil:
		return skip("%s; %s", wrong, other)
	case other != nil && !errors.As(other, &v):
		return other
	}
	return nil
}

// executeWith runs the stage with options.
func executeWith(p *probe, x *session, options string) (*execution, error) {
	return x.execute(p, order{edit: func(r *deployment.ExecuteStageRequest) { r.Input.StageConfig = []byte(options) }})
}

// freshAfterWrong runs the stage, and then with options that no stage can take. In a separate process, such a stage
// fails: options.type sees that.
func freshAfterWrong(p *probe) error {
	const wrong = `["not", "options"]`
	alone, err := p.start(setup{})
	if err != nil {
		return err
	}
	if e, err := executeWith(p, alone, wrong); err != nil || !e.failed() {
		return orSkip(err, "it does not refuse wrong options, see options.type")
	}
	after, err := p.start(setup{})
	if err != nil {
		return err
	}
	if e, err := after.execute(p, order{}); err != nil || e.failed() || e.cut {
		return orSkip(err, "the stage does not succeed, see execution.ends")
	}
	e, err := executeWith(p, after, wrong)
	if err != nil {
		return err
	}
	if e.err == nil && !e.failed() && !e.cut {
		return fmt.Errorf("options that it refuses in a new process are taken after a stage with other options (%s): "+
			"it keeps the options of an earlier stage", e.how())
	}
	p.saw("%s", e.how())
	return nil
}

// orSkip is the error, or else a case that is not applicable.
func orSkip(err error, why string) error {
	if err != nil {
		return err
	}
	return skip("%s", why)
}

// freshAfterOther compares a stage with other options in a new process, and after a stage with the options of the
// caller. It is certain where the log shows the difference each time in a new process, and never after a stage.
func freshAfterOther(p *probe, first *execution) error {
	const soon = 2 * time.Second
	switch {
	case len(p.suite.options.Settings.DeployTargets) > 0:
		return skip("what other options would deploy is not known")
	case first.took > soon:
		return skip("the stage takes too long to be run with other options")
	}
	for _, other := range otherOptions(p.suite.given()) {
		kept, shown, err := keepsOptions(p, other)
		switch {
		case err != nil:
			return err
		case kept:
			return fmt.Errorf("the log of a stage with the options %s is another one in a new process than after a "+
				"stage with %s, where it is as for those: it keeps the options of an earlier stage", other,
				p.suite.with())
		case shown:
			p.saw("its log shows other options after a stage with those of --with")
			return nil
		}
	}
	return skip("its log does not show other options")
}

// keepsOptions is whether a stage with other options does what one before it has done, and whether its log would show
// that.
func keepsOptions(p *probe, other string) (kept, shown bool, err error) {
	fresh, err := traces(p, other, other)
	if err != nil || fresh == nil || fresh[0] != fresh[1] {
		return false, false, err
	}
	var before string
	for range 2 { // what differs by chance does not do so twice
		both, err := traces(p, p.suite.with(), other)
		if err != nil || both == nil || both[0] == fresh[0] || before != "" && before != both[0] {
			return false, false, err
		}
		if both[1] != both[0] {
			return false, both[1] == fresh[0], nil
		}
		before = both[0]
	}
	again, err := traces(p, other) // what changes with the time has changed by now
	return again != nil && again[0] == fresh[0], true, err
}

// traces are what the logs of two stages in a new process say; nil when one of them does not succeed.
func traces(p *probe, options ...string) ([]string, error) {
	x, err := p.start(setup{})
	if err != nil {
		return nil, err
	}
	defer x.process.kill()
	var all []string
	for _, with := range options {
		e, err := executeWith(p, x, with)
		if err != nil {
			return nil, err
		}
		if e.err != nil || e.cut || e.failed() {
			return nil, nil
		}
		all = append(all, e.trace())
	}
	return all, nil
}

// changing are parts of a log that are other ones each time: ids of the stage, times, addresses and sums.
var changing = regexp.MustCompile(`stage-\d+|(\d+([.:]\d+)*\s*(ns|µs|ms|s|m|h|seconds?|minutes?))+\b|` +
	`\d{4}-\d\d-\d\d|\d\d?:\d\d(:\d\d)?|\b[0-9a-fA-F]{8,}\b|\b\d{6,}\b`)

// trace is what the log says, without what changes each time.
func (e *execution) trace() string {
	var text strings.Builder
	for _, block := range e.session.piped.Blocks(e.id, false) {
		text.WriteString(changing.ReplaceAllString(block.GetLog(), "…") + "\n")
	}
	return text.String()
}

// mostOthers bounds how many other options are tried.
const mostOthers = 3

// otherOptions are the options of a caller, each with another value of one of them that does nothing else to the world:
// a list with its last element twice, and a number that is more or less by one.
func otherOptions(given map[string]json.RawMessage) (others []string) {
	add := func(key string, value any) {
		if text, err := json.Marshal(given); err == nil && len(others) < mostOthers {
			others = append(others, string(withKey(text, key, value)))
		}
	}
	for _, key := range sortedKeys(given) {
		var value any
		if slices.Contains(commands, strings.ToLower(key)) || json.Unmarshal(given[key], &value) != nil {
			continue
		}
		switch v := value.(type) {
		case []any:
			if len(v) > 0 {
				add(key, append(v, v[len(v)-1]))
			}
		case float64:
			if v == math.Trunc(v) && v > 0 {
				add(key, v+1)
			}
		}
	}
	return others
}
