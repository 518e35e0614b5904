// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// Bounds of a chart in a folder. Those of files are Helm's own for archives.
const (
	maxChartFiles = 10_000
	maxChartDepth = 32
	// maxUnpacked is for a chart with all that it holds, in bytes.
	maxUnpacked = 128 << 20
)

var errNotRead = errors.New("only files of the chart and of the repository are read")

// loaded is a chart, and where it was found.
type loaded struct {
	chart *chart.Chart
	// folder is the chart's folder in the checkout, absolute; empty for an archive.
	folder string
	// shown is how that folder is written in messages.
	shown string
	fixed bool
}

// source is where a file of the chart stands. Helm's names begin with that of the chart.
func (l *loaded) source(name string) string {
	name = filepath.ToSlash(name)
	if l.folder == "" {
		return name
	}
	return path.Join(l.shown, strings.TrimPrefix(name, l.chart.Name()+"/"))
}

func (c *Charts) load(ctx context.Context, g *guard, req Request) (*loaded, error) {
	if req.Path == "" {
		return c.loadRemote(ctx, g, req.Repository, req.Name, req.Version)
	}
	if filepath.IsAbs(req.Path) {
		return nil, fmt.Errorf("input.helmChart.path: %s is not relative to the application's directory", req.Path)
	}
	found, err := loadLocal(req.Tree, filepath.Join(req.Dir, req.Path))
	if err != nil {
		return nil, fmt.Errorf("input.helmChart.path: %w", err)
	}
	if rel, err := filepath.Rel(req.Dir, found.folder); found.folder != "" && err == nil {
		found.shown = filepath.ToSlash(rel)
	}
	return found, nil
}

// loadLocal loads a chart of the checkout: a folder or an archive.
func loadLocal(tree *checkout.Tree, at string) (*loaded, error) {
	if _, err := tree.Resolve(at); err != nil {
		return nil, err
	}
	name := tree.Name(at)
	switch tree.Kind(at) {
	case checkout.Folder:
		files, err := readFolder(tree, at)
		if err != nil {
			return nil, err
		}
		chrt, err := loadFiles(files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &loaded{chart: chrt, folder: at, shown: name, fixed: true}, nil
	case checkout.File:
		data, err := tree.ReadFile(at)
		if err != nil {
			return nil, err
		}
		chrt, err := loadArchive(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &loaded{chart: chrt, fixed: true}, nil
	}
	return nil, fmt.Errorf("there is no chart at %s", name)
}

func loadFiles(files []*archive.BufferedFile) (*chart.Chart, error) {
	left := int64(maxUnpacked)
	if err := unpack(files, &left, 0); err != nil {
		return nil, err
	}
	chrt, err := loader.LoadFiles(files)
	return checked(chrt, err, files...)
}

func loadArchive(data []byte) (*chart.Chart, error) {
	files, err := archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return checked(nil, err)
	}
	return loadFiles(files)
}

// unpack refuses charts that grow too much. Helm bounds each archive, but archives hold others.
func unpack(files []*archive.BufferedFile, left *int64, depth int) error {
	for _, f := range files {
		if *left -= int64(len(f.Data)); *left < 0 || depth > maxDependencyDepth {
			return fmt.Errorf("not a chart that can be used: unpacked with its dependencies it is larger than %d MiB",
				maxUnpacked>>20)
		}
		if strings.HasPrefix(f.Name, "charts/") && path.Ext(f.Name) == ".tgz" {
			inner, err := archive.LoadArchiveFiles(bytes.NewReader(f.Data))
			if err != nil {
				return fmt.Errorf("%s: not a chart that can be used: %w", f.Name, err)
			}
			if err := unpack(inner, left, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// unreadable is how Helm says that a file of a chart cannot be decoded.
var unreadable = regexp.MustCompile(`cannot load (\S+):.* yaml: line (\d+): (.*)$`)

// checked puts what is wrong with a chart into words.
func checked(chrt *chart.Chart, err error, files ...*archive.BufferedFile) (*chart.Chart, error) {
	switch {
	case err == nil && chrt.Metadata.APIVersion != chart.APIVersionV1 && chrt.Metadata.APIVersion != chart.APIVersionV2:
		return nil, fmt.Errorf("not a chart that can be used: its apiVersion is %q, not v1 or v2",
			chrt.Metadata.APIVersion)
	case err == nil:
		return chrt, nil
	case strings.Contains(err.Error(), "Chart.yaml file is missing"):
		return nil, errors.New("not a chart: it has no Chart.yaml")
	}
	if m := unreadable.FindStringSubmatch(err.Error()); m != nil {
		for _, file := range files {
			if file.Name == m[1] {
				line, problem := yamlplace.Of(file.Data, err)
				return nil, fmt.Errorf("%s:%d: not valid YAML: %s", file.Name, line, problem)
			}
		}
		return nil, fmt.Errorf("%s:%s: not valid YAML: %s", m[1], m[2], m[3])
	}
	return nil, fmt.Errorf("not a chart that can be used: %w", err)
}

// readFolder reads the files of a chart, without those that .helmignore names.
func readFolder(tree *checkout.Tree, folder string) ([]*archive.BufferedFile, error) {
	rules := ignore.Empty()
	if at := filepath.Join(folder, ignore.HelmIgnore); tree.Kind(at) == checkout.File {
		data, err := tree.ReadFile(at)
		if err != nil {
			return nil, err
		}
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("%s: %w", tree.Name(at), err)
		}
	}
	rules.AddDefaults()
	walk := chartWalk{tree: tree, folder: folder, rules: rules}
	err := walk.enter("", 0)
	return walk.files, err
}

type chartWalk struct {
	tree   *checkout.Tree
	folder string
	rules  *ignore.Rules
	files  []*archive.BufferedFile
	bytes  int64
}

func (w *chartWalk) enter(below string, depth int) error {
	at := filepath.Join(w.folder, below)
	if depth > maxChartDepth {
		return fmt.Errorf("%s: folders are nested more than %d deep; does a link lead back to its own folder?",
			w.tree.Name(at), maxChartDepth)
	}
	entries, err := w.tree.List(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(below, e.Name())
		real, err := w.tree.Resolve(filepath.Join(at, e.Name()))
		if err != nil {
			return err
		}
		info, err := os.Stat(real)
		if err != nil {
			return fmt.Errorf("%s: a link leads to nothing", w.tree.Name(filepath.Join(at, e.Name())))
		}
		if w.rules.Ignore(name, info) {
			continue
		}
		if info.IsDir() {
			err = w.enter(name, depth+1)
		} else {
			err = w.file(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *chartWalk) file(name string, info os.FileInfo) error {
	at := filepath.Join(w.folder, name)
	if info.Size() > archive.MaxDecompressedFileSize {
		return fmt.Errorf("%s is larger than the %d MiB that a file of a chart may have; name it in .helmignore",
			w.tree.Name(at), archive.MaxDecompressedFileSize>>20)
	}
	data, err := w.tree.ReadFile(at)
	if err != nil {
		return err
	}
	w.bytes += int64(len(data))
	if w.bytes > archive.MaxDecompressedChartSize || len(w.files) >= maxChartFiles {
		return fmt.Errorf("%s: the chart is larger than %d MiB or %d files; name what it does not need in .helmignore",
			w.tree.Name(w.folder), archive.MaxDecompressedChartSize>>20, maxChartFiles)
	}
	w.files = append(w.files, &archive.BufferedFile{Name: name, ModTime: info.ModTime(),
		Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))})
	return nil
}
