// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"strings"
)

// Status is how an object is, in the words of Argo CD.
type Status string

// The statuses that a rule may give.
const (
	Healthy     Status = "Healthy"
	Progressing Status = "Progressing"
	Degraded    Status = "Degraded"
	Suspended   Status = "Suspended"
	Missing     Status = "Missing"
	Unknown     Status = "Unknown"
)

var statuses = []Status{Healthy, Progressing, Degraded, Suspended, Missing, Unknown}

// maxMessage bounds what a rule says of an object, in bytes.
const maxMessage = 300

// Verdict is what a rule says of an object.
type Verdict struct {
	Status  Status
	Message string
	// Err is set when the rule has failed; its text is one line. The status is unknown then.
	Err error
}

// String is "Degraded: no quota".
func (v Verdict) String() string {
	switch {
	case v.Err != nil:
		return v.Err.Error()
	case v.Message != "":
		return string(v.Status) + ": " + v.Message
	}
	return string(v.Status)
}

// verdictOf reads what an expression or a script has given. nil, and a mapping without a status, leave the object open.
func verdictOf(given any) (v Verdict, judged bool, err error) {
	var status, message any
	switch given := given.(type) {
	case nil:
	case string:
		status = given
	case map[string]any:
		status, message = given["status"], given["message"]
	default:
		return v, false, fmt.Errorf("it gives a %T: want a status, or status and message", given)
	}
	if status == nil {
		return v, false, nil
	}
	for _, one := range statuses {
		if status == string(one) {
			v.Status = one
		}
	}
	if v.Status == "" {
		return v, false, fmt.Errorf("it gives the status %s: want %s", quoted(status), listed())
	}
	if message != nil {
		v.Message = shorten(oneLine(fmt.Sprint(message)))
	}
	return v, true, nil
}

// quoted shows a value that is no status.
func quoted(value any) string { return shorten(fmt.Sprintf("%q", fmt.Sprint(value))) }

func listed() string {
	var names []string
	for _, one := range statuses[:len(statuses)-1] {
		names = append(names, string(one))
	}
	return strings.Join(names, ", ") + " or " + string(statuses[len(statuses)-1])
}

func shorten(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
