// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/text"
)

// AddFlag adds -o to a command that has its RunE, and refuses values other than json and none.
func AddFlag(cmd *cobra.Command, output *string) { addFlag(cmd, output, "json for machines", "json") }

// AddPageFlag is AddFlag with the value markdown.
func AddPageFlag(cmd *cobra.Command, output *string) {
	addFlag(cmd, output, "json for machines, markdown for a comment on a pull request", "json", "markdown")
}

func addFlag(cmd *cobra.Command, output *string, usage string, forms ...string) {
	cmd.Flags().StringVarP(output, "output", "o", "", usage)
	previous := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output != "" && !slices.Contains(forms, *output) {
			return exit.Usage(fmt.Errorf("--output %q is unknown", *output),
				"use -o "+strings.Join(forms, " or -o ")+", or nothing for a table")
		}
		return previous(cmd, args)
	}
}

// Table prints aligned columns. An empty cell is shown as "-"; control characters are removed.
func Table(w io.Writer, header []string, body [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, strings.Join(header, "\t"))
	for _, row := range body {
		for i, cell := range row {
			if cell == "" {
				row[i] = "-"
			}
			row[i] = text.Line(row[i])
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// Extended is a message with more than its own fields.
type Extended struct {
	Message proto.Message
	// More are the other fields, by names that the message does not have.
	More map[string]any
}

// JSON prints messages by their proto field names, the form that the contract fixes.
func JSON(w io.Writer, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, data, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, indented.String())
	return err
}

func encode(v any) ([]byte, error) {
	options := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}
	switch x := v.(type) {
	case proto.Message:
		return options.Marshal(x)
	case map[string]any:
		parts := map[string]json.RawMessage{}
		for key, value := range x {
			data, err := encode(value)
			if err != nil {
				return nil, err
			}
			parts[key] = data
		}
		return json.Marshal(parts)
	case []Extended:
		parts := make([]map[string]json.RawMessage, len(x))
		for i, one := range x {
			data, err := encode(one.Message)
			if err == nil {
				err = json.Unmarshal(data, &parts[i])
			}
			for name, value := range one.More {
				if err == nil {
					parts[i][name], err = encode(value)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		return json.Marshal(parts)
	case []*deckv1.Component:
		return encodeList(x)
	case []*deckv1.Application:
		return encodeList(x)
	case []*deckv1.Deployment:
		return encodeList(x)
	case []*deckv1.Plugin:
		return encodeList(x)
	case []*deckv1.Piped:
		return encodeList(x)
	case []*deckv1.Problem:
		return encodeList(x)
	default:
		return json.Marshal(v)
	}
}

func encodeList[M proto.Message](list []M) ([]byte, error) {
	parts := make([]json.RawMessage, 0, len(list))
	for _, m := range list {
		data, err := encode(m)
		if err != nil {
			return nil, err
		}
		parts = append(parts, data)
	}
	return json.Marshal(parts)
}
