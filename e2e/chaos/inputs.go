// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed inputs/*.txt
var inputs embed.FS

const (
	exitUsage = 2
	// inputPatience bounds one bad input: nothing is started for it.
	inputPatience = time.Minute
)

// input is one row of a table.
type input struct {
	// shown names the row in a finding.
	shown string
	args  []string
	code  int
	// holds must be in standard error, or match it.
	holds []*regexp.Regexp
}

// tryInputs gives the command what it cannot work with. Each row must get its exit code and message, and the
// folder of someone's documents must be as before.
func tryInputs(ctx context.Context, c *chaos) error {
	home, err := c.home("inputs")
	if err != nil {
		return err
	}
	places, err := createPlaces(home)
	if err != nil {
		return err
	}
	rows, err := commandRows(places)
	if err != nil {
		return err
	}
	for _, table := range []struct{ file, name, kind string }{{"applications.txt", "app.pipecd.yaml", "Application"},
		{"pipeds.txt", "piped.yaml", "Piped"}} {
		more, err := configurationRows(table.file, table.name, table.kind, filepath.Join(home, table.file))
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	for _, row := range rows {
		if err := c.tryInput(ctx, home, row); err != nil {
			return err
		}
	}
	fmt.Printf("inputs: %d rows\n", len(rows))
	letter := filepath.Join(places["$DOCS"], "letter.txt")
	if content, err := os.ReadFile(letter); err != nil || string(content) != documents {
		c.findings.add("inputs: a document in the state directory is gone or changed: %s: %v", letter, err)
	}
	return nil
}

func (c *chaos) tryInput(ctx context.Context, home string, row input) error {
	ctx, cancel := context.WithTimeout(ctx, inputPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "pipedeck"), row.args...)
	cmd.Dir = filepath.Join(home, "empty")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(home, "state"))
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	code := cmd.ProcessState.ExitCode()
	if code != row.code {
		c.findings.add("inputs: %s: exit code %d, want %d: %s", row.shown, code, row.code, firstLine(output.String()))
		return nil
	}
	for _, holds := range row.holds {
		if !holds.MatchString(output.String()) {
			c.findings.add("inputs: %s: the message lacks %q: %s", row.shown, holds, firstLine(output.String()))
		}
	}
	return nil
}

const documents = "Dear Ada,\n"

// createPlaces creates what the command lines name.
func createPlaces(home string) (map[string]string, error) {
	places := map[string]string{
		"$EMPTY": filepath.Join(home, "empty"), "$FILE": filepath.Join(home, "file"),
		"$BARE": filepath.Join(home, "bare"),
		"$DOCS": filepath.Join(home, "state", "docs"),
	}
	repository, err := createRepository(filepath.Join(home, "repository"), "/bin/true", filepath.Join(home, "ledger"),
		false)
	if err != nil {
		return nil, err
	}
	places["$REPO"] = repository.dir
	err = errors.Join(os.Mkdir(places["$EMPTY"], 0o700), writeFiles(home, map[string]string{"file": "text\n"}),
		writeFiles(places["$DOCS"], map[string]string{"letter.txt": documents}), createGit(places["$BARE"],
			map[string]string{"README": "nothing to deploy\n"}))
	return places, err
}

func commandRows(places map[string]string) ([]input, error) {
	var rows []input
	err := eachLine("commands.txt", func(line string) error {
		code, rest, _ := strings.Cut(line, "\t")
		text, args, found := strings.Cut(rest, "\t")
		n, err := strconv.Atoi(code)
		if err != nil || !found {
			return fmt.Errorf("inputs/commands.txt: %q is not CODE, TEXT, ARGUMENTS", line)
		}
		for name, place := range places {
			text, args = strings.ReplaceAll(text, name, place), strings.ReplaceAll(args, name, place)
		}
		rows = append(rows, input{
			shown: "pipedeck " + args, args: append(strings.Fields(args), "--state-dir", filepath.Dir(places["$DOCS"])),
			code:  n,
			holds: []*regexp.Regexp{regexp.MustCompile(regexp.QuoteMeta(text)), regexp.MustCompile("next step: ")},
		})
		return nil
	})
	return rows, err
}

// configurationRows writes each configuration to a separate folder.
func configurationRows(table, name, kind, dir string) ([]input, error) {
	var rows []input
	err := eachLine(table, func(line string) error {
		text, spec, found := strings.Cut(line, "\t")
		if !found {
			return fmt.Errorf("inputs/%s: %q is not TEXT, SPEC", table, line)
		}
		own := filepath.Join(dir, strconv.Itoa(len(rows)))
		if err := writeFiles(own, map[string]string{name: "apiVersion: pipecd.dev/v1beta1\nkind: " + kind + "\nspec: " +
			spec + "\n"}); err != nil {
			return err
		}
		rows = append(rows, input{
			shown: kind + " " + spec, args: []string{"validate", "--strict", filepath.Join(own, name)}, code: exitUsage,
			holds: []*regexp.Regexp{regexp.MustCompile(regexp.QuoteMeta(name) + `:\d+:\d+`),
				regexp.MustCompile(regexp.QuoteMeta(text))},
		})
		return nil
	})
	return rows, err
}

// eachLine goes through a table without its comments.
func eachLine(file string, do func(line string) error) error {
	content, err := inputs.ReadFile("inputs/" + file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := do(line); err != nil {
			return err
		}
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
