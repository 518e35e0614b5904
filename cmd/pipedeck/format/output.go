// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/text"
)

// The values of the flag -o.
const (
	wide     = "wide"
	names    = "name"
	jsonForm = "json"
	yamlForm = "yaml"
	markdown = "markdown"
)

// Output is what the flags of a command say about the form of its result. Register it with AddFlag or AddListFlags.
type Output struct {
	form      string
	noHeaders bool
}

// Machine reports whether the result is a document for programs.
func (o *Output) Machine() bool { return o.form == jsonForm || o.form == yamlForm }

// Markdown reports whether the result is a page.
func (o *Output) Markdown() bool { return o.form == markdown }

// Names reports whether only names are wanted.
func (o *Output) Names() bool { return o.form == names }

// Document prints a document as JSON, or as YAML where that is wanted.
func (o *Output) Document(w io.Writer, document any) error {
	if o.form == yamlForm {
		return writeYAML(w, document)
	}
	return writeJSON(w, document)
}

// Table prints a table, as wide as the flags say.
func (o *Output) Table(w io.Writer, table Table) error {
	table.whole = table.whole || o.form == wide
	table.extra = o.form == wide
	table.headless = o.noHeaders
	return table.print(w, screenOf(w))
}

// List prints a list in one of its forms. The document is only made when it is wanted.
func (o *Output) List(w io.Writer, document func() any, names []string, table Table) error {
	switch {
	case o.Machine():
		return o.Document(w, document())
	case o.Names():
		return o.PrintNames(w, names)
	}
	return o.Table(w, table)
}

// PrintNames prints one name a line.
func (o *Output) PrintNames(w io.Writer, names []string) error {
	for _, name := range names {
		if _, err := fmt.Fprintln(w, text.Line(name)); err != nil {
			return err
		}
	}
	return nil
}

// AddFlag adds -o to a command that has its RunE, and refuses values other than json and none.
func AddFlag(cmd *cobra.Command, output *Output) {
	addForms(cmd, output, "json for machines", jsonForm)
}

// AddPageFlag is AddFlag with the value markdown.
func AddPageFlag(cmd *cobra.Command, output *Output) {
	addForms(cmd, output, "json for machines, markdown for a comment on a pull request", jsonForm, markdown)
}

// AddLineFlag adds -o to a command that has its RunE and prints event lines, and refuses values other than json and
// none.
func AddLineFlag(cmd *cobra.Command, output *Output) {
	addForms(cmd, output, "json for machines: one object a line", jsonForm)
}

// AddTableFlags adds -o and --no-headers to a command that has its RunE and prints tables without a name in each row.
func AddTableFlags(cmd *cobra.Command, output *Output) {
	addForms(cmd, output, "wide for whole tables; json or yaml for machines", wide, jsonForm, yamlForm)
	addNoHeaders(cmd, output)
}

// AddListFlags adds -o and --no-headers to a command that has its RunE and prints a list.
func AddListFlags(cmd *cobra.Command, output *Output) {
	addForms(cmd, output, "wide for the whole table, name for one name a line; json or yaml for machines", wide, names,
		jsonForm, yamlForm)
	addNoHeaders(cmd, output)
}

func addNoHeaders(cmd *cobra.Command, output *Output) {
	cmd.Flags().BoolVar(&output.noHeaders, "no-headers", false, "leave the heads of the columns out")
}

func addForms(cmd *cobra.Command, output *Output, usage string, forms ...string) {
	cmd.Flags().StringVarP(&output.form, "output", "o", "", usage)
	previous := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := output.check(forms); err != nil {
			return err
		}
		return previous(cmd, args)
	}
}

func (o *Output) check(forms []string) error {
	if o.form == "" || slices.Contains(forms, o.form) {
		return nil
	}
	return exit.Usage(fmt.Errorf("--output %q is unknown", o.form),
		"use -o "+strings.Join(forms, ", -o ")+", or nothing for users")
}
