// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings say what is tried, and how often.
type settings struct {
	seed         uint64
	kills, flips int
	cuts         int
	short        bool
	only         string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "beat" {
		os.Exit(beat(os.Args[2:]))
	}
	var s settings
	flag.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "seed of every random choice")
	flag.IntVar(&s.kills, "kills", 80, "kills, at least; every cell of the matrix is tried at least once")
	flag.IntVar(&s.flips, "flips", 2000, "damaged histories to restore")
	flag.IntVar(&s.cuts, "cuts", 10, "power cuts")
	flag.BoolVar(&s.short, "short", false, "the form of CI: every victim and every moment at least once, 24 "+
		"kills, 200 damaged histories, no planted faults")
	flag.StringVar(&s.only, "only", "", "try only these parts, separated by commas: "+strings.Join(names(parts), ", "))
	flag.Parse()
	if s.short {
		s.kills, s.flips, s.cuts = min(s.kills, 24), min(s.flips, 200), min(s.cuts, 2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found, err := run(ctx, s)
	for _, violation := range found {
		fmt.Println("BROKEN", violation)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(3)
	}
	fmt.Printf("seed %d: %d broken promises\n", s.seed, len(found))
	if len(found) > 0 {
		os.Exit(1)
	}
}

// part is one kind of trouble.
type part struct {
	name string
	run  func(ctx context.Context, c *chaos) error
}

var parts = []part{{"kills", tryKills}, {"disk", tryFullDisk}, {"power", tryPowerCut}, {"flips", tryFlips},
	{"inputs", tryInputs}, {"faults", tryFaults}}

func names(all []part) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.name)
	}
	return list
}

// chaos is one run.
type chaos struct {
	settings
	// bin holds the built programs, dir everything that the run writes, self is this program.
	bin, dir, self string
	random         *rand.Rand
	findings       *findings
}

func run(ctx context.Context, s settings) ([]string, error) {
	bin, err := filepath.Abs(os.Getenv("PIPEDECK_BIN"))
	if err != nil || os.Getenv("PIPEDECK_BIN") == "" {
		return nil, errors.New("PIPEDECK_BIN must name the directory with the built programs; run: make chaos")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	chosen := parts
	if s.short { // the last one compiles everything again and again
		chosen = parts[:len(parts)-1]
	}
	if s.only != "" {
		chosen = nil
		for name := range strings.SplitSeq(s.only, ",") {
			i := slices.IndexFunc(parts, func(p part) bool { return p.name == strings.TrimSpace(name) })
			if i < 0 {
				return nil, fmt.Errorf("-only %s: part %q is unknown; the parts are %s", s.only, name,
					strings.Join(names(parts), ", "))
			}
			chosen = append(chosen, parts[i])
		}
	}
	dir, err := os.MkdirTemp("", "pipedeck-chaos-")
	if err != nil {
		return nil, err
	}
	fmt.Printf("seed %d\n", s.seed)
	c := &chaos{settings: s, bin: bin, dir: dir, self: self, findings: &findings{}}
	for _, p := range chosen {
		// Each part draws from its own numbers, so that -only repeats it.
		c.random = rand.New(rand.NewPCG(s.seed, uint64(len(p.name))))
		began := time.Now()
		err := p.run(ctx, c)
		fmt.Printf("%s: %s, %d broken promises so far\n", p.name, time.Since(began).Round(time.Second),
			len(c.findings.list()))
		if err != nil {
			return c.findings.list(), fmt.Errorf("%s: %w\nthe environment's files are kept in %s", p.name, err, dir)
		}
	}
	if len(c.findings.list()) > 0 {
		fmt.Printf("the environments' files are kept in %s\n", dir)
		return c.findings.list(), nil
	}
	return nil, os.RemoveAll(dir)
}

// home is a fresh directory for one environment.
func (c *chaos) home(name string) (string, error) {
	dir := filepath.Join(c.dir, name)
	return dir, os.Mkdir(dir, 0o700)
}
