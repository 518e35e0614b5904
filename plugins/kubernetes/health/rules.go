// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// Rules judge objects. nil judges none. They may be used by several goroutines.
type Rules struct {
	rules   []rule
	scripts *scripts
}

// rule is one entry of the configuration.
type rule struct {
	group, kind string
	// field is its place in the configuration, such as health[0].cel.
	field string
	judge judge
}

// judge gives what an expression or a script says of an object: a status, a mapping, or nil.
type judge interface {
	judge(ctx context.Context, object map[string]any) (any, error)
}

// Compile prepares rules. The error joins a Mistake for each that cannot work. The caller closes the rules.
func Compile(configured []config.HealthRule) (*Rules, error) {
	if len(configured) == 0 {
		return nil, nil
	}
	r := &Rules{scripts: newScripts()}
	var mistakes []error
	for i, c := range configured {
		one, mistake := r.compile(i, c)
		if mistake != nil {
			mistakes = append(mistakes, mistake)
			continue
		}
		r.rules = append(r.rules, one)
	}
	if len(mistakes) > 0 {
		r.Close()
		return nil, errors.Join(mistakes...)
	}
	return r, nil
}

func (r *Rules) compile(i int, c config.HealthRule) (rule, *Mistake) {
	one := rule{group: c.Group, kind: c.Kind}
	key, err := c.Check()
	switch {
	case err != nil:
	case c.CEL != "":
		key = "cel"
		one.judge, err = compileExpression(c.CEL)
	default:
		key = "lua"
		one.judge, err = r.scripts.compile(c.Lua)
	}
	one.field = fmt.Sprintf("health[%d].%s", i, key)
	if err == nil {
		return one, nil
	}
	mistake := &Mistake{Rule: i, Key: key, Text: err.Error()}
	if at, placed := errors.AsType[*placedError](err); placed {
		mistake.Line, mistake.Column, mistake.Text = at.line, at.column, at.text
	}
	return rule{}, mistake
}

// Close ends the processes of scripts.
func (r *Rules) Close() {
	if r != nil {
		r.scripts.close()
	}
}

// Judges reports whether a rule is for objects of a kind.
func (r *Rules) Judges(kind schema.GroupKind) bool { return r.of(kind) != nil }

// of returns the first rule for a kind; nil without one.
func (r *Rules) of(kind schema.GroupKind) *rule {
	if r == nil {
		return nil
	}
	for i := range r.rules {
		if one := &r.rules[i]; covers(one.group, kind.Group) && covers(one.kind, kind.Kind) {
			return one
		}
	}
	return nil
}

// covers reports whether a pattern stands for a name. The configuration has checked the pattern.
func covers(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// Judge says how an object is. judged is false when no rule is for its kind, or when the rule leaves it open. An object
// whose controller says that it has not seen the newest change is in progress, whatever its status says.
func (r *Rules) Judge(ctx context.Context, o *unstructured.Unstructured) (verdict Verdict, judged bool) {
	one := r.of(o.GroupVersionKind().GroupKind())
	if one == nil {
		return Verdict{}, false
	}
	seen, says, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if says && seen < o.GetGeneration() {
		return Verdict{Status: Progressing, Message: "the controller has not seen the change yet"}, true
	}
	given, err := one.judge.judge(ctx, o.Object)
	if err == nil {
		verdict, judged, err = verdictOf(given)
	}
	if err != nil {
		return Verdict{Status: Unknown, Err: fmt.Errorf("%s fails: %s", one.field, oneLine(err.Error()))}, true
	}
	return verdict, judged
}

// Mistake is a rule that cannot work.
type Mistake struct {
	// Rule is its place in the list of rules, Key the key in it.
	Rule int
	Key  string
	// Line and Column are a place in the value, from 1; 0 for the whole.
	Line, Column int
	Text         string
}

func (m *Mistake) Error() string {
	return fmt.Sprintf("health[%d].%s: %s", m.Rule, m.Key, m.Where())
}

// Where is the text with the place in the value before it.
func (m *Mistake) Where() string {
	switch {
	case m.Line == 0:
		return m.Text
	case m.Column == 0:
		return fmt.Sprintf("line %d: %s", m.Line, m.Text)
	}
	return fmt.Sprintf("line %d, column %d: %s", m.Line, m.Column, m.Text)
}

// placedError is what is wrong at a place in an expression or a script.
type placedError struct {
	line, column int
	text         string
}

func (e *placedError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.text) }

// oneLine puts a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
