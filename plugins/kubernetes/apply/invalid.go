// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// describeInvalid lists the fields that the API does not accept.
func describeInvalid(err error, refused *RefusedError, m manifest.Manifest, ask inquiry) error {
	refused.unsettled = true
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		refused.Reason = shorten(err.Error())
		return refused
	}
	var problems []problem
	for _, cause := range status.Status().Details.Causes {
		if saysImmutable(cause.Message) {
			refused.immutable = true
			problems = append(problems, immutable(cause, m, ask)...)
			continue
		}
		problems = append(problems, invalid(cause, m))
	}
	refused.take(problems, m)
	return refused
}

// invalid is a field with a value that the API does not accept.
func invalid(cause metav1.StatusCause, m manifest.Manifest) problem {
	p := problem{path: normalPath(cause.Field), text: withoutValue(cause.Message)}
	if p.path == "<nil>" || p.path == "[]" { // the object as a whole
		p.path = ""
	}
	switch {
	case strings.Contains(cause.Message, "Too long: ") && (p.path == "" || p.path == "data"):
		p.remedy = tooLargeRemedy
	case strings.Contains(cause.Message, "Too long: "):
		p.remedy = "shorten it"
	case strings.Contains(cause.Message, "`selector` does not match template `labels`"):
		p.remedy = "give the pod template every label of spec.selector"
	case strings.HasPrefix(cause.Message, "Required value"):
		p.remedy = "add the field"
	default:
		p.remedy = remedyOf(p.path, cause.Message)
	}
	if key := keyOf(m, p.path, cause.Message); key != "" {
		p.where = m.At(p.path + "." + key)
	}
	return p
}

const (
	nameRemedy  = "use lower case letters, digits and '-', with a letter or a digit at both ends"
	labelRemedy = "use letters, digits, '-', '_' and '.', with a letter or a digit at both ends"
)

// remedyOf is what to do about a value that breaks a rule which many users meet; empty for other rules.
func remedyOf(path, message string) string {
	mount := strings.Index(path, "ontainers[")
	switch {
	case strings.Contains(message, "a valid label "):
		return labelRemedy
	case strings.Contains(message, "a lowercase RFC 1123 "), strings.Contains(message, "a DNS-1035 label "):
		return nameRemedy
	case strings.Contains(message, "a valid config key "):
		return "rename the key: use letters, digits, '-', '_' and '.'"
	case strings.HasPrefix(message, "Not found: ") && strings.Contains(path, ".volumeMounts[") && mount >= 0:
		spec := path[:strings.LastIndex(path[:mount], ".")]
		return "add a volume with this name to " + spec + ".volumes, or remove the mount"
	case strings.Contains(message, "must be less than or equal to ") && strings.Contains(message, " limit"):
		return "lower the request, or raise the limit"
	case strings.HasPrefix(path, "data[.dockerconfigjson]"):
		return `write JSON such as {"auths": {"registry.example": {"username": "…", "password": "…"}}}`
	}
	return ""
}

// quoted is the value that the API does not accept.
var quoted = regexp.MustCompile(`^Invalid value: ("(?:[^"\\]|\\.)*"): `)

// keyOf returns the entry of a mapping, such as labels, that the API means when it names the mapping only.
func keyOf(m manifest.Manifest, path, message string) string {
	var value string
	found := quoted.FindStringSubmatch(message)
	if found == nil || json.Unmarshal([]byte(found[1]), &value) != nil {
		return ""
	}
	entries, _ := m.Value(path).(map[string]any)
	for key, has := range entries {
		if key == value || has == value {
			return key
		}
	}
	return ""
}

var (
	// dumped begins a value that is a whole object: JSON, or a struct of Go.
	dumped = regexp.MustCompile(`^(?:Invalid|Duplicate|Unsupported) value: ([&*]?(?:map)?[\w.*\[\]]*\{|\[)`)
	// pattern is the regular expression with which the API ends some sentences that say the same in words.
	pattern = regexp.MustCompile(`,? regex used for validation is '[^']*(?:'[^',)]+)*'`)
)

// withoutValue is a message of the API in one line, without objects that it repeats and differences that it lists.
func withoutValue(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if found := dumped.FindStringSubmatchIndex(message); found != nil {
		if rest := afterBrackets(message[found[2]:]); strings.HasPrefix(rest, ": ") {
			message = strings.TrimPrefix(rest, ": ")
		}
	}
	message = strings.TrimPrefix(message, "Forbidden: ")
	return shorten(pattern.ReplaceAllString(message, ""))
}

// afterBrackets returns what follows the bracket that closes the first one.
func afterBrackets(s string) string {
	depth, inText := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				if rest := s[i+1:]; !strings.HasPrefix(rest, "{") { // map[string]string{
					return rest
				}
			}
		}
	}
	return ""
}

// immutables are the API's words for fields that cannot be changed.
var immutables = []string{
	"immutable", "may not change once set", "cannot change roleRef",
	"updates to statefulset spec for fields other than",
	"pod updates may not change fields other than", "updates to parameters are forbidden",
	"updates to provisioner are forbidden", "field can not be less than",
}

func saysImmutable(text string) bool {
	return slices.ContainsFunc(immutables, func(words string) bool { return strings.Contains(text, words) })
}
