// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// The kinds of plugins.
const (
	kindStage       = "stage"
	kindDeployment  = "deployment"
	kindLivestate   = "livestate"
	kindPlanPreview = "planpreview"
)

// The languages of plugins.
const (
	languageGo     = "go"
	languagePython = "python"
	languageNode   = "node"
)

var (
	kinds     = []string{kindStage, kindDeployment, kindLivestate, kindPlanPreview}
	languages = []string{languageGo, languagePython, languageNode}
)

//go:embed all:template
var templates embed.FS

// plugin is what the templates are filled with.
type plugin struct {
	// Name is the plugin's, Kind one of the kinds, Language one of the languages.
	Name, Kind, Language string
	// Stage is the type of its stage; of a plugin that deploys, it begins the types of its stages.
	Stage string
	// Module is the path of the Go module; empty in another language.
	Module string

	sources sources
}

// Deploys reports whether the plugin brings applications somewhere.
func (p *plugin) Deploys() bool { return p.Kind != kindStage }

// stages are the types of the stages that the templates of the plugin have.
func (p *plugin) stages() []string {
	if p.Deploys() {
		return []string{p.Stage + "_SYNC", p.Stage + "_ROLLBACK"}
	}
	return []string{p.Stage}
}

// folders are the templates that the plugin consists of; no two have a file of one name.
func (p *plugin) folders() []string {
	common, own := "common", ""
	if p.Language != languageGo {
		common, own = p.Language, p.Language+"-"
	}
	if !p.Deploys() {
		return []string{common, "schema-" + kindStage, own + kindStage}
	}
	folders := []string{common, "schema-" + kindDeployment, own + kindDeployment}
	if p.Kind != kindDeployment {
		folders = append(folders, own+p.Kind)
	}
	return folders
}

// work is the file with the work of the plugin.
func (p *plugin) work() string {
	endings := map[string]string{languageGo: ".go", languagePython: ".py", languageNode: ".js"}
	name, ending := "stage", endings[p.Language]
	switch {
	case p.Deploys():
		name = "deploy"
	case p.Language == languagePython:
		name = "main"
	}
	return name + ending
}

// write writes the plugin. It overwrites nothing.
func (p *plugin) write(dir string) error {
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return exit.Usage(fmt.Errorf("%s is not empty", dir),
			"give another directory: pipedeck plugin new "+p.Name+" DIR")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read the directory of the plugin: %w", err)
	}
	for _, folder := range p.folders() {
		if err := p.fillAll(dir, "template/"+folder); err != nil {
			return err
		}
	}
	return p.sources.write(dir, p.Module)
}

// fillAll writes the files of a folder of templates.
func (p *plugin) fillAll(dir, folder string) error {
	below, err := fs.Sub(templates, folder)
	if err != nil {
		return err
	}
	return fs.WalkDir(below, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(below, path)
		if err != nil {
			return err
		}
		name, filled := strings.TrimSuffix(path, ".tmpl"), strings.Builder{}
		// The delimiters occur in no language that the files are written in.
		parsed, err := template.New(name).Delims("«", "»").Parse(string(text))
		if err != nil {
			return err
		}
		if err := parsed.Execute(&filled, p); err != nil {
			return err
		}
		return writeFile(dir, name, []byte(filled.String()))
	})
}

// writeFile writes a new file; name is its slash-separated path below dir.
func writeFile(dir, name string, content []byte) error {
	path, err := filepath.Localize(name)
	if err != nil {
		return fmt.Errorf("write the file %s of the plugin: %w", name, err)
	}
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("create the directory of the plugin: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write a file of the plugin: %w", err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write a file of the plugin: %w", err)
	}
	return nil
}
