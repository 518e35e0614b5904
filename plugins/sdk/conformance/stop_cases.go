// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func stopCases() []Case {
	return []Case{{
		ID: "process.children", Capability: Process, run: children,
		Title: "leaves no process behind when it ends",
		Why:   "what it has started works on without an owner, holds ports, and changes what the next attempt does",
		Next:  "end the processes of a stage with the stage, and wait for them before the plugin ends",
	}, {
		ID: "process.children.stage", Capability: Process, run: stageChildren,
		Title: "leaves no process behind when a stage has ended",
		Why:   "each deployment leaves a process, until the machine is full",
		Next:  "wait for the processes of a stage before its answer; end their process group",
	}, {
		ID: "process.files", Capability: Process, run: files,
		Title: "writes into the sources and the temporary directory alone",
		Why:   "piped runs plugins in its own directory, which may be read-only or hold other files of the name",
		Next:  "write into the application directory of the request, or into the temporary directory",
	}, {
		ID: "process.files.temporary", Capability: Process, run: temporaryFiles,
		Title: "removes its temporary files",
		Why:   "the disk of the machine fills up, and what they hold, such as secrets, stays",
		Next:  "remove the temporary directory of a stage when the stage ends",
	}}
}

func children(p *probe) error {
	if !observable {
		return skip("processes without a parent are seen on Linux alone")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	if _, err := x.execute(p, order{}); err != nil {
		return err
	}
	held, err := p.begin(x, order{})
	if err != nil {
		return err
	}
	held.gate.release()
	p.pause(200 * time.Millisecond)
	_ = x.terminate(p.ctx) // process.sigterm.busy looks at that
	held.finish()
	x.process.kill()
	if len(x.process.left) > 0 {
		return fmt.Errorf("after its end there was still %s", strings.Join(x.process.left, ", "))
	}
	return nil
}

func stageChildren(p *probe) error {
	if !observable {
		return skip("the processes of a process are seen on Linux alone")
	}
	if _, err := p.settled(); err != nil {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	before := marked(x.process.mark)
	if e, err := x.execute(p, order{}); err != nil || e.cut {
		return err
	}
	const moment = 500 * time.Millisecond // that a process may need to end
	answered := time.Now()
	var left, worked []string
	for range 20 {
		if left = marked(x.process.mark); len(left) <= len(before) {
			return errors.Join(x.alive(), workedOn(worked))
		}
		if time.Since(answered) >= moment {
			worked = slices.DeleteFunc(slices.Clone(left), func(one string) bool {
				return slices.Contains(before, one)
			})
		}
		p.pause(100 * time.Millisecond)
	}
	return fmt.Errorf("after the answer of the stage there are still %s", strings.Join(left, ", "))
}

// workedOn notes processes that ended by themselves some time after the answer of a stage.
func workedOn(processes []string) error {
	if len(processes) == 0 {
		return nil
	}
	return note("half a second after the answer of the stage, there was still %s; where that did work of the "+
		"stage, the answer came too early", strings.Join(processes, ", "))
}

// apart runs the stage in a process with a separate home and temporary directory.
func apart(p *probe) (*session, error) {
	if _, err := p.settled(); err != nil {
		return nil, err
	}
	x, err := p.start(setup{apart: true})
	if err != nil {
		return nil, err
	}
	e, err := x.execute(p, order{})
	if err != nil {
		return nil, err
	}
	if e.cut {
		return nil, skip("%s", p.suite.cutOff())
	}
	return x, nil
}

// written lists the files below a directory but for caches, also those of tools, such as .kube/cache of kubectl.
func written(dir string) []string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		within, _ := filepath.Rel(dir, path)
		ofTool, _ := filepath.Match(".*/cache", within)
		if entry.IsDir() && (ofTool || within == ".cache" || within == ".config") {
			return fs.SkipDir
		}
		if !entry.IsDir() {
			found = append(found, within)
		}
		return nil
	})
	return found
}

func files(p *probe) error {
	x, err := apart(p)
	if err != nil {
		return err
	}
	if found := written(filepath.Join(x.dir, "work")); len(found) > 0 {
		return fmt.Errorf("it writes %s into the directory that it is started in", strings.Join(found, ", "))
	}
	if found := written(x.home); len(found) > 0 {
		return fmt.Errorf("it writes %s into the home directory", strings.Join(found, ", "))
	}
	return nil
}

// temporaryFiles looks at what is left after a stage and after the questions that piped asks, and says which of them it
// has come with.
func temporaryFiles(p *probe) error {
	x, err := apart(p)
	if err != nil {
		return err
	}
	since := map[string]string{}
	note := func(what string) {
		for _, name := range topLevel(x.temp) {
			if since[name] == "" {
				since[name] = what
			}
		}
	}
	note("the start or the stage")
	for _, question := range []struct {
		method string
		ask    sourceQuestion
	}{
		{"DetermineVersions", askVersions}, {"DetermineStrategy", askStrategy}, {"GetLivestate", askLive},
		{"GetPlanPreview", askPreview},
	} {
		source, err := p.suite.sourceFor()
		if err != nil {
			return err
		}
		ctx, cancel := p.limit()
		_ = question.ask(p, ctx, x, source, source)
		cancel()
		note(question.method)
	}
	_ = x.terminate(p.ctx) // process.sigterm looks at that
	if found := topLevel(x.temp); len(found) > 0 {
		return fmt.Errorf("after its end it has left %s in the temporary directory, since %s",
			strings.Join(found, ", "), cmp.Or(since[found[0]], "its end"))
	}
	return nil
}

// topLevel lists what lies in a directory, directories included: an empty one is left behind as well.
func topLevel(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
