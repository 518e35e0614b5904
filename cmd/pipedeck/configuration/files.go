// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/term"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// configurationFile is a file to check. The content is cut off behind config.MaxSize, so that the
// check says that it is too large.
type configurationFile struct {
	name    string
	content []byte
	// link marks a symbolic link below the directory, which is not followed.
	link bool
}

// standardInput is the argument for standard input, and inputName what messages call it.
const (
	standardInput = "-"
	inputName     = "<stdin>"
)

// findAll reads what the arguments name, each file once, in their order; "-" is in.
func findAll(ctx context.Context, in io.Reader, paths []string) ([]configurationFile, error) {
	var all []configurationFile
	seen := map[string]bool{}
	for _, path := range paths {
		var found []configurationFile
		var err error
		if path == standardInput {
			found, err = readInput(ctx, in)
		} else {
			found, err = findConfigurations(ctx, path)
		}
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if key := filepath.Clean(file.name); !seen[key] {
				seen[key] = true
				all = append(all, file)
			}
		}
	}
	return all, nil
}

// readInput reads standard input. It ends with ctx, also while no one writes.
func readInput(ctx context.Context, in io.Reader) ([]configurationFile, error) {
	if file, ok := in.(*os.File); ok {
		if term.IsTerminal(int(file.Fd())) {
			return nil, exit.Usage(errors.New("standard input is a terminal"),
				"give a file in it, for example: pipedeck validate - < app.pipecd.yaml")
		}
		defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })()
	}
	content, err := io.ReadAll(io.LimitReader(in, config.MaxSize+1))
	switch {
	case ctx.Err() != nil:
		return nil, exit.Silent(exit.Interrupted)
	case err != nil:
		return nil, exit.Usage(fmt.Errorf("read standard input: %w", err), "name a file instead of -")
	}
	return []configurationFile{{name: inputName, content: content}}, nil
}

// findConfigurations reads the file, or all configurations below the directory in the order of their
// names. Symbolic links below it are not followed.
func findConfigurations(ctx context.Context, root string) ([]configurationFile, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, exit.Usage(err, "name an existing file or directory")
	}
	if !info.IsDir() {
		content, err := inputfile.Read(ctx, root, config.MaxSize+1)
		switch {
		case ctx.Err() != nil:
			return nil, exit.Silent(exit.Interrupted)
		case err != nil:
			return nil, exit.Usage(err, "name a regular file that can be read, or a directory")
		}
		return []configurationFile{{name: root, content: content}}, nil
	}
	var files []configurationFile
	// Names may be any bytes, which io/fs does not walk.
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink != 0 && config.IsApplicationFilename(name):
			files = append(files, configurationFile{name: name, link: true})
			return nil
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		}
		content, err := inputfile.Read(ctx, name, config.MaxSize+1)
		if err != nil {
			return err
		}
		if config.IsApplicationFilename(name) ||
			len(content) <= config.MaxSize && (config.Claimed(content, name) || story.Claimed(content)) {
			files = append(files, configurationFile{name: name, content: content})
		}
		return nil
	})
	if err != nil {
		return nil, exit.Usage(err, "make the directory readable, or name one file")
	}
	if len(files) == 0 {
		return nil, exit.Usage(fmt.Errorf("%s holds no configuration of piped, an application or a plugin", root),
			"name the file, or the directory of an app.pipecd.yaml")
	}
	return files, nil
}
