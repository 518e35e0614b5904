// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"fmt"
	"strings"
)

// maxShown bounds the resources that a text has.
const maxShown = 200

// Diff shows the changes as the lines of a diff: what is destroyed comes first, so that it is never what is left out.
func (s *Set) Diff() string {
	var b strings.Builder
	sorted := s.ordered()
	for i, r := range sorted {
		if i == maxShown {
			fmt.Fprintf(&b, "  … %d more resources (%s); the inspector of the stage (key i) and "+
				"pipedeck plan-preview -o json list more\n", len(sorted)-i, strings.Join(counted(sorted[i:]), ", "))
			break
		}
		r.write(&b)
	}
	for i, o := range s.Outputs {
		if i == maxShown {
			fmt.Fprintf(&b, "  … %d more outputs\n", len(s.Outputs)-i)
			break
		}
		fmt.Fprintf(&b, "  output %s\n", quoted(o.Name))
		o.Field.write(&b, "value")
	}
	return b.String()
}

// heads are how the first line of a resource begins, and what it says.
var heads = map[Action][2]string{
	Create: {"+", "is created"}, Update: {"~", "is changed in place"}, Replace: {"-/+", "is replaced"},
	Destroy: {"-", "is destroyed"}, Forget: {"~", "is forgotten; it lives on"}, Move: {"~", "is moved"},
	Import: {"~", "is imported"},
}

// What says in one line what happens to the resource: "is replaced: it is tainted".
func (r *Resource) What() string {
	text := heads[r.Action][1]
	if r.Action == Move || r.From != "" {
		text += " from " + r.From
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

func (r *Resource) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s %s %s\n", heads[r.Action][0], r.Address, r.What())
	for _, f := range r.Fields {
		f.write(b, f.Path)
	}
	if r.MoreFields > 0 {
		fmt.Fprintf(b, "    … %d more fields\n", r.MoreFields)
	}
}

// write shows a field as the line before and the line after.
func (f *Field) write(b *strings.Builder, name string) {
	mark := ""
	if f.Forces {
		mark = "  # replaces the resource"
	}
	if f.Before != "" {
		fmt.Fprintf(b, "-     %s = %s\n", name, f.Before)
	}
	if f.After != "" {
		fmt.Fprintf(b, "+     %s = %s%s\n", name, f.After, mark)
	} else if mark != "" {
		fmt.Fprintf(b, "      %s\n", strings.TrimSpace(mark))
	}
}
