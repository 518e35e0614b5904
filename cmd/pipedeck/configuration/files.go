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
	"syscall"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/config"
)

// configurationFile is a file to check. The content is cut off behind config.MaxSize, so that the
// check says that it is too large.
type configurationFile struct {
	name    string
	content []byte
	// link marks a symbolic link below the directory, which is not followed.
	link bool
}

// findConfigurations reads the file, or all configurations below the directory in the order of their
// names. Symbolic links below it are not followed.
func findConfigurations(ctx context.Context, root string) ([]configurationFile, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, exit.Usage(err, "name an existing file or directory")
	}
	if !info.IsDir() {
		content, err := readFile(ctx, root)
		switch {
		case ctx.Err() != nil:
			return nil, exit.Silent(exit.Interrupted)
		case err != nil:
			return nil, exit.Usage(err, "name a file that can be read")
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
		content, err := readBounded(name)
		if err != nil {
			return err
		}
		if config.IsApplicationFilename(name) || (len(content) <= config.MaxSize && config.Claimed(content, name)) {
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

// readFile reads a file that is named itself, which may be a pipe. As with any program, one that no one has opened for
// writing yet is waited for; the end of ctx ends that.
func readFile(ctx context.Context, name string) ([]byte, error) {
	// Without O_NONBLOCK, it is the opening that waits, and nothing ends that.
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })()
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return readAll(file)
	}
	pipe, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	first, opened := make([]byte, 4096), false
	var n int
	waited := pipe.Read(func(fd uintptr) (done bool) {
		n, err = syscall.Read(int(fd), first)
		// Nothing at all is also what is read before someone writes; an event reports those who come.
		done = !errors.Is(err, syscall.EAGAIN) && (n != 0 || opened)
		opened = true
		return done
	})
	if err := errors.Join(waited, err); err != nil || n <= 0 {
		return nil, err
	}
	rest, err := readAll(file)
	return append(first[:n], rest...), err
}

func readAll(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, config.MaxSize+1)) }

func readBounded(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file)
}
