// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/film"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/tui/document"
)

// Bounds of --speed.
const leastSpeed, mostSpeed = 0.1, 100

// filmFlags are the flags of export about the terminal UI.
type filmFlags struct {
	cast, svg     string
	at, length    time.Duration
	idle          time.Duration
	columns, rows int
	speed         float64
	screen        screenFlags
	// environ chooses how the UI looks.
	environ []string
	cmd     *cobra.Command
	// cut is how the recording of an environment was cut short.
	cut cutShort
}

// standardOutput is what a flag has for standard output in place of a file.
const standardOutput = "-"

// piped reports whether a picture or a recording goes to standard output, which then has nothing else.
func (f *filmFlags) piped() bool { return f.svg == standardOutput || f.cast == standardOutput }

// create has a picture or a recording written to a new file, or to standard output.
func (f *filmFlags) create(path string, write func(io.Writer) error) error {
	if path == standardOutput {
		return buffered(f.cmd.OutOrStdout(), write)
	}
	return create(path, write)
}

func (f *filmFlags) register(cmd *cobra.Command) {
	f.cmd = cmd
	flags := cmd.Flags()
	flags.StringVar(&f.svg, "svg", "", "write a picture of the terminal UI to `FILE`; - is standard output")
	flags.StringVar(&f.cast, "cast", "", "write a recording of the terminal UI to `FILE`, as asciicast v2; - is "+
		"standard output")
	flags.DurationVar(&f.at, "at", 0, "time of the session that --svg shows (default: its end)")
	flags.DurationVar(&f.length, "for", 0, "how long --cast records an environment (default: until Ctrl-C)")
	flags.DurationVar(&f.idle, "idle-limit", 0, "longest pause of --cast (default: as in the session)")
	flags.Float64Var(&f.speed, "speed", 1, "speed of --cast, from 0.1 to 100")
	flags.IntVar(&f.columns, "columns", 120, "width of the terminal")
	flags.IntVar(&f.rows, "rows", 36, "height of the terminal")
	f.screen.register(cmd)
}

func (f *filmFlags) wanted() bool { return f.cast != "" || f.svg != "" }

// check finds flags that cannot be right, and reads how the UI looks.
func (f *filmFlags) check(from string) error {
	given := f.cmd.Flags().Changed
	switch {
	case f.speed < leastSpeed || f.speed > mostSpeed || f.speed != f.speed:
		return exit.Usage(fmt.Errorf("--speed %v is not from %v to %v", f.speed, leastSpeed, mostSpeed), "correct it")
	case f.columns < film.LeastColumns || f.columns > film.MostColumns:
		return exit.Usage(fmt.Errorf("--columns %d is not from %d to %d", f.columns, film.LeastColumns,
			film.MostColumns), "correct it")
	case f.rows < film.LeastRows || f.rows > film.MostRows:
		return exit.Usage(fmt.Errorf("--rows %d is not from %d to %d", f.rows, film.LeastRows, film.MostRows),
			"correct it")
	case f.at < 0 || f.length < 0 || f.idle < 0:
		return exit.Usage(errors.New("--at, --for and --idle-limit are not negative"), "correct it")
	case f.svg == standardOutput && f.cast == standardOutput:
		return exit.Usage(errors.New("--svg and --cast cannot both go to standard output"),
			"name a FILE for one of them")
	case given("at") && (f.svg == "" || from == ""):
		return exit.Usage(errors.New("--at is about a picture of a recorded session"), "add --from FILE and --svg FILE")
	case given("for") && (f.cast == "" || from != ""):
		return exit.Usage(errors.New("--for is about a recording of an environment"),
			"add --cast FILE, and leave --from out")
	}
	return f.read()
}

// read finds how the UI looks. The terminal of this process has no part in that.
func (f *filmFlags) read() error {
	var all []string
	if err := f.screen.read(&all); err != nil {
		return err
	}
	light := ""
	for _, entry := range all {
		if strings.HasPrefix(entry, "PIPEDECK_") {
			f.environ = append(f.environ, entry)
		}
		if name, found := strings.CutPrefix(entry, "PIPEDECK_THEME="); found {
			light = ""
			if strings.HasSuffix(name, "light") {
				light = "COLORFGBG=0;15"
			}
		}
	}
	f.environ = append(f.environ, light)
	return nil
}

// write writes the files of a session.
func (f *filmFlags) write(ctx context.Context, recorded *sessionfile.Session, exported *document.Exported) error {
	if f.svg != "" {
		err := f.create(f.svg, func(to io.Writer) error {
			return f.show(recorded, func(reel *player.Reel, o film.Options) error {
				if f.cmd.Flags().Changed("at") {
					o.Until = f.at
				}
				svg, err := film.Picture(ctx, reel, o)
				if err != nil {
					return err
				}
				_, err = io.WriteString(to, svg)
				return err
			})
		})
		if err != nil {
			return exit.Explain(ctx, err)
		}
		exported.SVG = f.svg
	}
	if f.cast == "" {
		return nil
	}
	err := f.create(f.cast, func(to io.Writer) error {
		return f.show(recorded, func(reel *player.Reel, o film.Options) error { return film.Cast(ctx, reel, o, to) })
	})
	if err == nil {
		exported.Cast = f.cast
	}
	return exit.Explain(ctx, err)
}

// show has a session at its beginning shown.
func (f *filmFlags) show(recorded *sessionfile.Session, how func(*player.Reel, film.Options) error) error {
	reel := player.NewReel(recorded)
	deck, stop, err := serveSession(reel.Server())
	if err != nil {
		return err
	}
	defer stop()
	return how(reel, film.Options{
		Deck: deck, Name: recorded.Header.GetEnvironment(), Version: version.Build(), Environ: f.environ,
		Columns: f.columns, Rows: f.rows, Speed: f.speed, Idle: f.idle, Until: -1,
	})
}

// create creates a file, never in place of one, and has it written. It leaves no part of a file.
func create(path string, write func(io.Writer) error) error {
	file, err := createSession(path)
	if err != nil {
		return err
	}
	if err := buffered(file.file, write); err != nil {
		return errors.Join(err, file.discard())
	}
	_, err = file.close()
	return err
}

// buffered has something written in large parts.
func buffered(to io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriter(to)
	if err := write(out); err != nil {
		return err // a full disk is one error, not one for each layer that wrote
	}
	return out.Flush()
}
