// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

const (
	// maxNeighbours bounds the applications that are looked at. A repository with more is looked at in the order of
	// its paths.
	maxNeighbours = 1000
	// labelTarget is the label by which pipedeck's control plane gives an application one of several deploy targets.
	labelTarget = "pipedeck.dev/target"
	// singlePlugin and multiPlugin are the keys of spec.plugins that name manifests.
	singlePlugin, multiPlugin = "kubernetes", "kubernetes_multicluster"
)

// neighbour is another application of the repository, as a commit has it.
type neighbour struct {
	// file is its configuration, relative to the root, with slashes.
	file, name string
	// target is the deploy target that its labels choose; mostly empty.
	target string
	// sources are its manifests for one cluster and for many; mostly one of them.
	sources []*Source
	// invalid is why its configuration cannot be read, or nil.
	invalid error
	// of is who its configuration says that it is of.
	of platform
	// templates are its files that piped fills in for it alone, with secrets and attachments.
	templates []string
}

// platform says whether an application is one for Kubernetes.
type platform int

const (
	unknownPlatform platform = iota
	kubernetes
	otherPlatform
)

// neighbours are the other applications in the checkout of a source, also those with mistakes. None are known where the
// root of the checkout is not.
func neighbours(ctx context.Context, s *Source) ([]*neighbour, error) {
	root := repositoryRoot(s)
	tree, err := checkout.Open(root)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(s.Dir, s.ConfigFilename)
	var found []*neighbour
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return nil // what may not be read is no application
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular(), !isApplication(entry.Name()), name == own:
			return nil
		case len(found) == maxNeighbours:
			return fs.SkipAll
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return nil
		}
		data, err := tree.ReadFile(name)
		if err != nil {
			return nil
		}
		if n := neighbourOf(root, filepath.ToSlash(relative), data); n != nil {
			found = append(found, n)
		}
		return nil
	})
	return found, err
}

// isApplication reports whether a file has the name of an application's configuration (PipeCD v1).
func isApplication(base string) bool {
	return strings.HasSuffix(base, ".pipecd.yaml") || base == ".pipe.yaml"
}

// otherKinds are kinds of PipeCD's configuration that are no applications.
var otherKinds = []string{"Piped", "ControlPlane", "EventWatcher", "AnalysisTemplate", "Notification"}

// neighbourOf reads a configuration; nil when it is none of an application.
func neighbourOf(root, file string, data []byte) *neighbour {
	var document struct {
		Kind string `yaml:"kind"`
		Spec struct {
			Name     string            `yaml:"name"`
			Labels   map[string]string `yaml:"labels"`
			Pipeline map[string]any    `yaml:"pipeline"`
			Plugins  map[string]any    `yaml:"plugins"`

			Encryption struct {
				Targets []string `yaml:"decryptionTargets"`
			} `yaml:"encryption"`
			Attachment struct {
				Targets []string `yaml:"targets"`
			} `yaml:"attachment"`
		} `yaml:"spec"`
	}
	err := yaml.Unmarshal(data, &document)
	spec := document.Spec
	n := &neighbour{file: file, name: spec.Name, target: spec.Labels[labelTarget],
		templates: slices.Concat(spec.Encryption.Targets, spec.Attachment.Targets)}
	if n.name == "" {
		n.name = path.Dir(file)
	}
	switch {
	case err != nil:
		n.invalid = unreadable(file, err)
		return n
	case slices.Contains(otherKinds, document.Kind):
		return nil
	}
	n.of = platformOf(data, spec.Plugins, spec.Pipeline != nil)
	for _, plugin := range []string{singlePlugin, multiPlugin} {
		options, written := spec.Plugins[plugin]
		if !written && (plugin == multiPlugin || spec.Plugins[multiPlugin] != nil) {
			continue
		}
		source, err := SourceAt(root, file, data, options)
		if err != nil {
			n.invalid = fmt.Errorf("its configuration is not valid: %w", err)
			continue
		}
		n.sources = append(n.sources, source)
	}
	return n
}

// unreadable is the error of a configuration that is not one, in the words of pipedeck apps: the parser quotes lines of
// the file.
func unreadable(file string, err error) error {
	var placed yaml.Error
	if !errors.As(err, &placed) || placed.GetToken() == nil || placed.GetToken().Position == nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	at, message := placed.GetToken().Position, placed.GetMessage()
	column := at.Column
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		if strings.Contains(message, "tab character") || strings.Contains(message, "'\t' that") {
			column, message = 1, "a line begins with a tab: want blanks, which are the only indentation of YAML"
		}
		message = "not valid YAML: " + message
	}
	return fmt.Errorf("%s:%d:%d: %s", file, max(at.Line, 1), max(column, 1), message)
}

// platformOf reads who deploys an application from its configuration. One that names nothing is deployed by the plugins
// that piped has.
func platformOf(data []byte, plugins map[string]any, pipeline bool) platform {
	_, single := plugins[singlePlugin]
	_, multi := plugins[multiPlugin]
	switch {
	case single, multi, bytes.Contains(data, []byte("K8S_")):
		return kubernetes
	case pipeline, len(plugins) > 0:
		return otherPlatform
	}
	return unknownPlatform
}

// SourceAt is the application whose configuration is a file of a checkout, relative to root, with the options that the
// configuration has for the plugin.
func SourceAt(root, file string, data []byte, options any) (*Source, error) {
	s := &Source{
		Dir:            filepath.Join(root, filepath.FromSlash(path.Dir(file))),
		ConfigFilename: path.Base(file), ConfigData: data,
		SharedConfigDir: filepath.Join(root, SharedConfigFolder),
	}
	part, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(part, &s.App); err != nil {
		return nil, err
	}
	return s, s.App.Validate()
}

// isOurs reports whether an application may be one for Kubernetes, also one that cannot be loaded.
func (n *neighbour) isOurs() bool { return n.of != otherPlatform }

// isTemplate reports whether an error is about a file that piped fills in when the application is deployed: here it is
// as in Git, so that the application may be in order.
func (n *neighbour) isTemplate(err error) bool {
	return slices.ContainsFunc(n.templates, func(file string) bool {
		return file != "" && strings.Contains(err.Error(), path.Base(file))
	})
}

// namedObject is an object that the manifests of an application name.
type namedObject struct {
	key manifest.Key
	// unapplied is why no deployment of the application applies it; empty when one does.
	unapplied string
}

// objects are those that an application has at a deploy target. An error says why they are not known.
func (n *neighbour) objects(ctx context.Context, l *Loader, targets []Target) ([]namedObject, error) {
	objects, _, err := n.load(ctx, l, targets, Loading{})
	return objects, err
}

// load loads the manifests of an application for a deploy target. offline is set when no chart has seen the cluster.
func (n *neighbour) load(ctx context.Context, l *Loader, targets []Target, how Loading) (objects []namedObject,
	offline bool, err error) {
	if n.invalid != nil {
		return nil, true, n.invalid
	}
	offline = true
	for _, s := range n.sources {
		at := s
		if len(s.App.Input.MultiTargets) > 0 && len(targets) > 0 {
			if at = At(s, targets[0]); at == nil {
				continue
			}
		}
		loaded, err := l.LoadAs(ctx, targets, at, how)
		if err != nil {
			return nil, true, err
		}
		offline = offline && (loaded.Reads == nil && !loaded.ReadsMoment || loaded.Away != nil)
		for _, m := range loaded.Manifests {
			object := namedObject{key: m.Key()}
			if placed, err := phase.Of(m); err == nil && !placed.IsDeployed() {
				object.unapplied = "it is a hook there that no deployment applies (" + placed.Hook + ")"
			}
			objects = append(objects, object)
		}
	}
	return objects, offline, nil
}

// mentions reports whether a file in the directory of an application has the kind and the name of an object: that is
// all that can be known of manifests which cannot be loaded.
func (n *neighbour) mentions(root string, key manifest.Key) bool {
	tree, err := checkout.Open(root)
	if err != nil {
		return false
	}
	named := regexp.MustCompile(`(?m)\bname["']?:\s*["']?` + regexp.QuoteMeta(key.Name) + `["']?\s*([#,}]|$)`)
	found := false
	dir := filepath.Join(root, filepath.FromSlash(path.Dir(n.file)))
	_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			return nil
		}
		data, err := tree.ReadFile(name)
		if err == nil && strings.Contains(string(data), key.Kind) && named.Match(data) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
