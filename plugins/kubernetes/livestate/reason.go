// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// Bounds of a reason: objects, fields of one object, and bytes of one value.
	maxFindings    = 20
	maxDifferences = 10
	maxValueBytes  = 120
	// maxMarked bounds the fields that an object itself says.
	maxMarked = 3
)

// state words the findings. PipeCD v1: the reason begins with "Diff between the defined state in Git at commit".
func (d *drift) state(findings []finding) *sdk.SyncState {
	state := &sdk.SyncState{Status: sdk.Synced, At: time.Now()}
	if len(findings) == 0 {
		return state
	}
	state.Status = sdk.OutOfSync
	state.ShortReason = fmt.Sprintf("%d resources are not as in Git", len(findings))
	if len(findings) == 1 {
		state.ShortReason = findings[0].short()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Diff between the defined state in Git at commit %.7s and the live state at %s:\n",
		d.source.CommitHash, d.target)
	for i, f := range findings {
		if i == maxFindings {
			fmt.Fprintf(&b, "\nand %d more resources\n", len(findings)-i)
			break
		}
		f.write(&b)
	}
	state.Reason = strings.TrimRight(b.String(), "\n")
	return state
}

func (f finding) short() string {
	switch {
	case f.what != "":
		return f.key.Human() + " " + f.what
	case len(f.differences) == 1:
		return f.key.Human() + ": " + f.differences[0].brief()
	}
	return fmt.Sprintf("%s: %d fields are not as in Git", f.key.Human(), len(f.differences))
}

// mark is what is said next to the object itself.
func (f finding) mark() string {
	if f.what != "" {
		return f.what
	}
	var fields []string
	for i, one := range f.differences {
		if i == maxMarked {
			fields = append(fields, fmt.Sprintf("and %d more fields", len(f.differences)-i))
			break
		}
		fields = append(fields, one.brief())
	}
	return strings.Join(fields, "; ")
}

func (f finding) write(b *strings.Builder) {
	if f.what != "" {
		fmt.Fprintf(b, "\n%s %s\n", f.key.Human(), f.what)
		return
	}
	fmt.Fprintf(b, "\n%s\n", f.key.Human())
	if f.refused != "" {
		fmt.Fprintf(b, "  A sync would not fix it; the cluster refuses: %s\n",
			shorten(strings.Join(strings.Fields(f.refused), " ")))
	}
	for i, one := range f.differences {
		if i == maxDifferences {
			fmt.Fprintf(b, "  and %d more fields\n", len(f.differences)-i)
			return
		}
		b.WriteString("  " + one.String())
		if by := lastManager(f.live, one.path); by != "" {
			fmt.Fprintf(b, " (written by %s)", by)
		}
		b.WriteByte('\n')
	}
}

// String is "spec.replicas: 2 in Git, 4 live".
func (d difference) String() string {
	return fmt.Sprintf("%s: %s in Git, %s live", d.path, show(d.git), show(d.live))
}

// brief is String for a line among others: of an object or a list it names what is in it.
func (d difference) brief() string {
	return fmt.Sprintf("%s: %s in Git, %s live", d.path, name(d.git), name(d.live))
}

// name is show for values without parts. The others are named, and are shown in the whole reason.
func name(value any) string {
	switch value := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(value))
		if len(keys) == 0 {
			return "an empty object"
		}
		more := ""
		if len(keys) > maxMarked {
			keys, more = keys[:maxMarked], ", …"
		}
		return "an object with " + strings.Join(keys, ", ") + more
	case []any:
		switch len(value) {
		case 0:
			return "an empty list"
		case 1:
			return "a list of 1 entry"
		}
		return fmt.Sprintf("a list of %d entries", len(value))
	}
	return show(value)
}

// hashed is what the masker makes of a value of a Secret.
var hashed = regexp.MustCompile(regexp.QuoteMeta(hidden) + "[0-9a-f]{64}")

// show is a value on one line, cut off. Hashes of secrets become the same stars.
func show(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		if strings.HasPrefix(value, hidden) {
			return hidden
		}
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	data = hashed.ReplaceAll(data, []byte(hidden))
	if len(data) > maxValueBytes {
		return strings.ToValidUTF8(string(data[:maxValueBytes]), "") + "…"
	}
	return string(data)
}
