// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// author is someone who writes a first plugin, in one language.
type author struct {
	language, needs, flags string
	// prepare has what the language needs in the cache of its user, from the network.
	prepare string
	// install is what the plugin needs before it runs.
	install string
}

var authors = []author{
	{language: "Go, empty caches", needs: "go"},
	{language: "Python", needs: "/usr/bin/python3", flags: "--lang python", install: "sed -i " +
		"'s#python3#/usr/bin/python3#' piped-plugin.yaml"},
	{language: "Node", needs: "npm", flags: "--lang node",
		prepare: "npm install --no-audit --no-fund", install: "npm install --offline --no-audit --no-fund"},
}

// firstStageLimit is for wall time from an empty folder to the stage that is green in the UI.
var firstStageLimit = limit{"max", 60} // s

// unnetworked runs a command where only the loopback interface is.
const unnetworked = `ip link set lo up; exec "$@"`

// benchAuthor measures how long someone with the released programs needs from an empty folder to the first own stage
// that is green in the UI: without a clone, and without network where the user may take it away.
func benchAuthor(ctx context.Context, bin, dir string) error {
	released := filepath.Join(dir, "released")
	if out, err := exec.CommandContext(ctx, "cp", "-r", bin, released).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the programs: %w: %s", err, out)
	}
	for i, a := range authors {
		if _, err := exec.LookPath(a.needs); err != nil {
			fmt.Printf("left out: first stage of an author, %s: %s is not installed\n", a.language, a.needs)
			continue
		}
		took, network, err := a.firstStage(ctx, released, filepath.Join(dir, fmt.Sprint(i)))
		if errors.Is(err, errUnprepared) {
			fmt.Printf("left out: first stage of an author, %s: %s\n", a.language, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.language, err)
		}
		number(fmt.Sprintf("empty folder -> first stage green, %s%s", a.language, network), "s", took.Seconds(),
			firstStageLimit)
	}
	return nil
}

// errUnprepared is for a machine that does not have what a language needs, nor the network to get it.
var errUnprepared = errors.New("cannot be prepared")

// firstStage goes the way of an author in an empty directory. network says that there was one.
func (a author) firstStage(ctx context.Context, released, dir string) (took time.Duration, network string, err error) {
	if err := os.MkdirAll(filepath.Join(dir, "caches"), 0o700); err != nil {
		return 0, "", err
	}
	create := "pipedeck plugin new greeter " + a.flags + "\ncd greeter\n"
	if a.prepare != "" {
		prepare := a.command(ctx, released, dir, "mkdir prepare\ncd prepare\n"+create+a.prepare)
		if out, err := prepare.CombinedOutput(); err != nil {
			return 0, "", fmt.Errorf("%w: %w: %s", errUnprepared, err, out)
		}
	}
	cmd := a.command(ctx, released, dir, create+a.install+"\ngit init -q -b main\ngit add .\ngit commit -q -m Begin\n"+
		"pipedeck up . --cluster none --plugin greeter=. || true\npipedeck down\n")
	unshare, ip := "unshare", "ip"
	if os.Getuid() == 0 && found(unshare) && found(ip) {
		cmd.Path, _ = exec.LookPath(unshare)
		cmd.Args = append([]string{unshare, "-n", "sh", "-ec", unnetworked, "sh"}, cmd.Args...)
	} else {
		network = ", with network"
	}
	took, err = untilGreen(ctx, cmd)
	return took, network, err
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// command runs a script with the released programs, and caches that are empty at the beginning.
func (a author) command(ctx context.Context, released, dir, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "caches"), "PATH="+released+":"+os.Getenv("PATH"),
		"GOCACHE="+filepath.Join(dir, "caches", "build"), "GOMODCACHE="+filepath.Join(dir, "caches", "modules"),
		"GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.com")
	return cmd
}

// green is what the UI shows of a stage that has succeeded.
var green = regexp.MustCompile(`✓ +GREETER`)

// untilGreen runs a command on a terminal until the stage is green there, and leaves the UI.
func untilGreen(ctx context.Context, cmd *exec.Cmd) (took time.Duration, err error) {
	const columns, rows = 140, 40
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	screen := vt10x.New(vt10x.WithSize(columns, rows))
	began := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return 0, err
	}
	defer terminal.Close()
	defer func() { err = errors.Join(err, ignoreExit(cmd.Wait())) }()
	defer context.AfterFunc(ctx, func() { _ = terminal.Close() })()
	buffer := make([]byte, 64<<10)
	for {
		read, failed := terminal.Read(buffer)
		if failed != nil { // the command has ended, or is late
			break
		}
		_, _ = screen.Write(buffer[:read])
		if took == 0 && green.MatchString(screen.String()) {
			took = time.Since(began)
			if _, err := terminal.WriteString("\x03"); err != nil {
				return 0, err
			}
		}
	}
	if took == 0 {
		return 0, fmt.Errorf("the stage was not green:\n%s", strings.TrimSpace(screen.String()))
	}
	return took, nil
}
