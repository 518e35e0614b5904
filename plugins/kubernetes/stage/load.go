// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// SharedConfigFolder is where a repository keeps shared PipeCD configuration, directly below its root (PipeCD v1).
const SharedConfigFolder = ".pipe"

// Images are those that are built from the sources of applications.
type Images interface {
	// Resolve gives the references to deploy by the written ones; images that are built elsewhere are left out.
	Resolve(ctx context.Context, b config.ImageBuilder, directory string, images []string) (map[string]string, error)
	// Provide brings images to the cluster of a deploy target; those that are built elsewhere are skipped.
	Provide(ctx context.Context, b config.ImageBuilder, directory, target string, images []string,
		progress func(string)) error
}

// Loader loads the manifests of a source as they are deployed: the references of images that are built from that source
// name its state.
type Loader struct {
	files    *manifest.Loader
	images   Images
	children *helm.Children
	pool     *cluster.Pool
	// key is that of the marks for hidden values.
	key []byte
}

// NewLoader creates a Loader. The pool stays the caller's; without one, charts see no cluster but where a Loading has
// one.
func NewLoader(files *manifest.Loader, images Images, pool *cluster.Pool) *Loader {
	return &Loader{files: files, images: images, pool: pool, key: []byte(rand.Text())}
}

// Configure takes the plugin's own configuration. It has to be called before the first Load.
func (l *Loader) Configure(c config.Plugin) {
	sources := chartSources(c)
	sources.Children = l.children
	l.files.UseCharts(helm.New(sources))
}

// Disconnect takes the place of Configure where nothing may be fetched.
func (l *Loader) Disconnect() {
	l.files.UseCharts(helm.New(helm.Sources{Offline: true, Children: l.children}))
}

// RenderIn renders charts in child processes, which Close ends. It has to be called before Configure.
func (l *Loader) RenderIn(children *helm.Children) { l.children = children }

// Close ends the child processes.
func (l *Loader) Close() {
	if l.children != nil {
		l.children.Close()
	}
}

// Load loads a source for the first of its deploy targets; without a target images stay as they are written. Charts see
// the cluster if it can be reached, and whether the deployment is an upgrade.
func (l *Loader) Load(ctx context.Context, targets []Target, s *Source, upgrade bool) ([]manifest.Manifest, error) {
	loaded, err := l.LoadAs(ctx, targets, s, Loading{Connect: l.Reaching(targets), Upgrade: upgrade})
	if err != nil {
		return nil, err
	}
	return loaded.Manifests, nil
}

// LoadAs is Load with a say in how.
func (l *Loader) LoadAs(ctx context.Context, targets []Target, s *Source, how Loading) (*Loaded, error) {
	req := loadRequest(s)
	req.Note = how.Note
	var release *helm.Release
	if how.Record && req.Chart != nil && s.App.Input.HelmOptions.ReleaseRecord {
		req.Release = func(r *helm.Release) { release = r }
	}
	if len(targets) > 0 {
		req.AllowedAddresses = targets[0].Config.AllowedChartAddresses
	}
	view := l.view(targets, s, how)
	readsMoment := false
	if req.Chart != nil {
		var err error
		if req.Moment, err = moment(ctx, s, how, view); err != nil {
			return nil, err
		}
		req.ReadsMoment = func() { readsMoment = true }
	}
	loaded, err := l.render(ctx, req, view, how)
	if err == nil {
		err = phase.Check(loaded.Manifests)
	}
	if err != nil {
		return nil, err
	}
	loaded.Release, loaded.ReadsMoment = release, readsMoment
	if len(targets) == 0 || targets[0].Config.ImageBuilder.IsZero() {
		return loaded, nil
	}
	references := manifest.References(loaded.Manifests)
	if len(references) == 0 {
		return loaded, nil
	}
	built, err := l.images.Resolve(ctx, targets[0].Config.ImageBuilder, repositoryRoot(s), references)
	if err != nil {
		return nil, err
	}
	manifest.ReplaceImages(loaded.Manifests, built)
	return loaded, nil
}

// provideImages brings the images of manifests, which Load has given, to the deploy target.
func (e *Executor) provideImages(ctx context.Context, req *Request, s *Source, manifests []manifest.Manifest) error {
	target := req.Targets[0]
	references := manifest.References(manifests)
	if target.Config.ImageBuilder.IsZero() || len(references) == 0 {
		return nil
	}
	return e.loader.images.Provide(ctx, target.Config.ImageBuilder, repositoryRoot(s), target.Name, references,
		req.Log.Info)
}

// loadRequest says how the manifests of a source are loaded.
func loadRequest(s *Source) manifest.Request {
	return manifest.Request{
		Dir: filepath.Join(s.Dir, s.App.Folder()), Root: repositoryRoot(s), ConfigFile: s.ConfigFilename,
		Files:            s.App.Input.Manifests,
		Chart:            chartOf(s),
		KustomizeOptions: s.App.Input.KustomizeOptions,
		Namespace:        s.App.Input.Namespace,
	}
}

// repositoryRoot finds the checkout that the application's directory is in; that directory itself when it is not
// known.
func repositoryRoot(s *Source) string {
	if filepath.Base(s.SharedConfigDir) != SharedConfigFolder {
		return s.Dir
	}
	root := filepath.Dir(s.SharedConfigDir)
	if rel, err := filepath.Rel(root, s.Dir); err != nil || !filepath.IsLocal(rel) {
		return s.Dir
	}
	return root
}

// rendering is how a stage loads: charts see the cluster, which is waited for as for everything else.
func (e *Executor) rendering(req *Request, note func(string)) Loading {
	return Loading{Needed: true, Note: note, Upgrade: IsUpgrade(req.Running),
		Connect: func(ctx context.Context) (*cluster.Client, error) { return e.connect(ctx, req) }}
}

func (e *Executor) load(ctx context.Context, req *Request, s *Source) ([]manifest.Manifest, error) {
	loaded, err := e.loadAs(ctx, req, s, e.rendering(req, req.Log.Info))
	if err != nil {
		return nil, err
	}
	return loaded.Manifests, nil
}

// loadRelease is load for a stage that brings the release to what a source says.
func (e *Executor) loadRelease(ctx context.Context, req *Request, s *Source) (*Loaded, error) {
	how := e.rendering(req, req.Log.Info)
	how.Record = true
	return e.loadAs(ctx, req, s, how)
}

func (e *Executor) loadAs(ctx context.Context, req *Request, s *Source, how Loading) (*Loaded, error) {
	loaded, err := e.loader.LoadAs(ctx, req.Targets, s, how)
	if err != nil {
		return nil, fmt.Errorf("load the manifests at commit %s: %w", short(s.CommitHash), err)
	}
	manifests := loaded.Manifests
	req.Log.Infof("Loaded %s at commit %s: %s", plural(len(manifests), "manifest"), short(s.CommitHash),
		countKinds(manifests))
	return loaded, nil
}

// countKinds is "2 ConfigMaps, 1 Deployment", in the order of the manifests.
func countKinds(manifests []manifest.Manifest) string {
	counts := map[string]int{}
	var kinds []string
	for _, m := range manifests {
		if counts[m.GetKind()]++; counts[m.GetKind()] == 1 {
			kinds = append(kinds, m.GetKind())
		}
	}
	for i, kind := range kinds {
		kinds[i] = plural(counts[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	case strings.HasSuffix(noun, "cy"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// short is a commit's hash as people write it.
func short(commit string) string { return commit[:min(7, len(commit))] }
