// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// Variable is the environment variable with the rules of piped, one a line.
const Variable = "PIPED_FAULTS"

// ControlPlane is the target of faults in reports to the control plane, Cluster that of faults in the calls of stages
// to the API of a cluster.
const (
	ControlPlane = "control-plane"
	Cluster      = "cluster"
)

const (
	maxRule    = 4 << 10
	maxTarget  = 400
	maxActions = 100
	maxNumber  = 1_000_000
	maxDelay   = 24 * time.Hour
)

// The kinds of actions.
const (
	kill        = "kill"
	delay       = "delay"
	unavailable = "unavailable"
	hang        = "hang"
	setStatus   = "status"
	flood       = "flood"
	forbidden   = "forbidden"
	conflict    = "conflict"
)

var (
	stageActions        = []string{kill, delay, unavailable, hang, setStatus, flood}
	controlPlaneActions = []string{delay, unavailable}
	clusterActions      = []string{delay, unavailable, forbidden, conflict, hang}
)

// verbs are those of calls to a cluster, anyVerb stands for each.
var verbs = []string{"get", "list", "watch", "create", "apply", "patch", "update", "delete", anyVerb}

const anyVerb = "*"

// The triggers of kill.
const (
	atLog  = "log"
	atCall = "call"
)

var statuses = map[string]model.StageStatus{
	"success": model.StageStatus_STAGE_SUCCESS, "failure": model.StageStatus_STAGE_FAILURE,
	"skipped": model.StageStatus_STAGE_SKIPPED, "exited": model.StageStatus_STAGE_EXITED,
}

// SyntaxError is a mistake in a rule.
type SyntaxError struct {
	// Rule is the text, and Column where the mistake is in it, in characters from 1.
	Rule    string
	Column  int
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("fault %q: column %d: %s", e.Rule, e.Column, e.Problem)
}

// action is what a rule has happen.
type action struct {
	kind string
	// at is the trigger of kill, number its argument or that of the kind.
	at     string
	number int
	delay  time.Duration
	status model.StageStatus
	// text is how users wrote it, without its count.
	text string
	// left is how many attempts it still happens in.
	left int
}

// rule is a parsed one.
type rule struct {
	id string
	// application is the id of the only one whose stages it is for; empty for all.
	application string
	// text is the target as users wrote it.
	text string
	// target is ControlPlane, Cluster or the stage; stage is that of a rule for a cluster, empty for every stage.
	target, stage string
	calls         calls
	// lent is how many of its actions an attempt or a plugin has that may give them back.
	lent    int
	actions []*action
}

// calls are those to a cluster that a rule is for; an empty field is each.
type calls struct{ verb, kind, name string }

// Parse reads rules; none gives nil. The error is a *SyntaxError.
func Parse(texts []string) (*Set, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	s := New()
	for _, text := range texts {
		if _, err := s.add(text, ""); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// source is a rule that is read; errors name the place of a byte in it.
type source string

func (s source) fail(at int, format string, args ...any) error {
	return &SyntaxError{string(s), utf8.RuneCountInString(string(s)[:at]) + 1, fmt.Sprintf(format, args...)}
}

func parseRule(text string) (*rule, error) {
	s := source(text)
	if len(text) > maxRule {
		return nil, &SyntaxError{text[:40] + "…", maxRule, fmt.Sprintf("it has more than %d bytes", maxRule)}
	}
	if !utf8.ValidString(text) {
		return nil, s.fail(0, "it is not UTF-8")
	}
	colon := strings.IndexByte(text, ':')
	if colon < 0 {
		return nil, s.fail(len(text), "want STAGE: ACTION, for example WAIT: delay 5s")
	}
	r := &rule{}
	if err := s.target(r, colon); err != nil {
		return nil, err
	}
	for at := colon + 1; at <= len(text); {
		end := len(text)
		if next := strings.IndexByte(text[at:], ';'); next >= 0 {
			end = at + next
		}
		a, err := s.action(at, end, r.target)
		if err != nil {
			return nil, err
		}
		if r.actions = append(r.actions, a); len(r.actions) > maxActions {
			return nil, s.fail(at, "there are more than %d actions", maxActions)
		}
		at = end + 1
	}
	return r, nil
}

// target reads what stands in front of the colon.
func (s source) target(r *rule, colon int) error {
	r.text = strings.TrimSpace(string(s[:colon]))
	r.target = r.text
	switch {
	case r.text == "":
		return s.fail(0, "a stage is missing in front of the colon")
	case len(r.text) > maxTarget:
		return s.fail(colon, "what stands in front of the colon has more than %d bytes", maxTarget)
	}
	stage, rest, found := strings.Cut("/"+r.text, "/"+Cluster)
	if !found || rest != "" && rest[0] != '/' {
		return nil
	}
	if r.target, r.stage = Cluster, strings.TrimSpace(strings.TrimPrefix(stage, "/")); rest == "" {
		return nil
	}
	begin := strings.Index(string(s), r.text) + len(r.text) - len(rest)
	words, places := s.words(begin+1, colon)
	switch {
	case len(words) == 0:
		return s.fail(colon, "a verb is missing: want %s", oneOf(verbs))
	case len(words) > 3:
		return s.fail(places[3], "%q is too much: want cluster/VERB KIND NAME", words[3])
	}
	words = append(words, "", "")
	if r.calls = (calls{words[0], words[1], words[2]}); !slices.Contains(verbs, r.calls.verb) {
		return s.fail(places[0], "%q is not a verb of calls to a cluster: want %s%s", words[0], oneOf(verbs),
			hint(words[0], verbs))
	}
	if r.calls.verb == anyVerb {
		r.calls.verb = ""
	}
	return nil
}

// words are the words of a part of the rule, each with its place.
func (s source) words(from, to int) (words []string, places []int) {
	for at := from; at < to; {
		for at < to && isSpace(s[at]) {
			at++
		}
		begin := at
		for at < to && !isSpace(s[at]) {
			at++
		}
		if begin < at {
			words, places = append(words, string(s[begin:at])), append(places, begin)
		}
	}
	return words, places
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' }

func (s source) action(from, to int, target string) (*action, error) {
	words, places := s.words(from, to)
	if len(words) == 0 {
		return nil, s.fail(from, "an action is missing: want %s", list(target))
	}
	a := &action{left: 1}
	name, at := words[0], places[0]
	if count, rest, found := strings.Cut(name, "*"); found {
		n, err := s.number(count, at)
		if err != nil {
			return nil, err
		}
		a.left, name, at = n, rest, at+len(count)+1
	}
	kind, trigger, triggered := strings.Cut(name, "@")
	a.kind = kind
	if err := s.known(target, kind, at); err != nil {
		return nil, err
	}
	switch {
	case triggered && kind != kill:
		return nil, s.fail(at+len(kind), "only kill waits for something")
	case triggered && trigger != atLog && trigger != atCall:
		return nil, s.fail(at+len(kind)+1, "%q is unknown: want kill@log N or kill@call N", trigger)
	case kind == kill && !triggered:
		a.at, a.number = atCall, 1
	default:
		a.at = trigger
	}
	a.text = strings.Join(append([]string{name}, words[1:]...), " ")
	if err := s.argument(a, words[1:], append(places[1:], to), triggered); err != nil {
		return nil, err
	}
	if target == ControlPlane && kind == unavailable { // there are no attempts
		a.number, a.left = min(a.number*a.left, maxNumber), 1
	}
	return a, nil
}

// argument reads what follows the name of an action; the last place is that of the end.
func (s source) argument(a *action, words []string, places []int, triggered bool) (err error) {
	wants := map[string]string{kill: "a number", delay: "a time", unavailable: "a number", setStatus: "a status",
		flood: "a number of lines"}[a.kind]
	needs := a.kind == delay || a.kind == setStatus || a.kind == flood || a.kind == kill && triggered
	switch {
	case len(words) == 0 && needs:
		return s.fail(places[0], "%s wants %s", a.text, wants)
	case len(words) == 0:
		a.number = max(a.number, 1)
		return nil
	case a.kind == hang || a.kind == kill && !triggered:
		return s.fail(places[0], "%s takes no argument", a.kind)
	case len(words) > 1:
		return s.fail(places[1], "%q is too much; separate actions with a semicolon", words[1])
	}
	switch a.kind {
	case delay:
		if a.delay, err = time.ParseDuration(words[0]); err != nil || a.delay <= 0 || a.delay > maxDelay {
			return s.fail(places[0], "%q is not a time between 0 and 24h, such as 5s", words[0])
		}
	case setStatus:
		var known bool
		if a.status, known = statuses[words[0]]; !known {
			return s.fail(places[0], "%q is not a status: want success, failure, skipped or exited", words[0])
		}
	default:
		a.number, err = s.number(words[0], places[0])
	}
	return err
}

func (s source) number(text string, at int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 || n > maxNumber {
		return 0, s.fail(at, "%q is not a number between 1 and %d", text, maxNumber)
	}
	return int(n), nil
}

func (s source) known(target, kind string, at int) error {
	for _, one := range actionsOf(target) {
		if one == kind {
			return nil
		}
	}
	return s.fail(at, "%q is not an action of %s: want %s%s", kind, target, list(target), hint(kind, actionsOf(target)))
}

// hint names the word that is nearest to an unknown one, if one is near.
func hint(unknown string, known []string) string {
	if near := spelling.Nearest(unknown, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

func actionsOf(target string) []string {
	switch target {
	case ControlPlane:
		return controlPlaneActions
	case Cluster:
		return clusterActions
	}
	return stageActions
}

func list(target string) string { return oneOf(actionsOf(target)) }

func oneOf(all []string) string {
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}
