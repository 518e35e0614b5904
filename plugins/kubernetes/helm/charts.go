// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/child"
)

// KubeVersion is the version of Kubernetes that charts see without a cluster, unless an application says another: that
// of the client libraries this is built with.
const KubeVersion = "v1.36.0"

// Charts renders charts. It may be used by several goroutines.
type Charts struct {
	sources Sources
	store   *store
}

// New creates Charts. It opens and creates nothing yet.
func New(sources Sources) *Charts {
	return &Charts{sources: sources, store: newStore(sources.CacheDir, sources.CacheBytes)}
}

// Request says which chart is rendered, and how.
type Request struct {
	// Tree is the checkout, Dir the application's directory in it, absolute.
	Tree *checkout.Tree
	Dir  string
	// Path is a chart in the checkout, relative to Dir. Else the chart is Name in Repository, which is the name of a
	// configured repository, the URL of one, or oci://registry/path.
	Path, Repository, Name string
	// Version is an exact version or a range of versions; empty is the newest one that is no pre-release.
	Version     string
	ReleaseName string
	// Namespace is that of the release. Default: that of the Cluster, or "default".
	Namespace string
	Options   Options
	Moment    Moment
	// AllowedAddresses are added to those of the [Sources].
	AllowedAddresses []string
	// Cluster is the cluster that the chart sees; nil for none.
	Cluster Cluster
	// Record asks for the Release.
	Record bool
}

// Options are those of `helm template`.
type Options struct {
	// ValueFiles are relative to the application's directory, or URLs. Later ones win.
	ValueFiles []string
	// Values win over those of the files, BaseValues do not.
	Values, BaseValues map[string]any
	// SetValues are single values by their path; SetFiles are files whose text is the value.
	SetValues, SetFiles map[string]string
	// APIVersions are added to those of the Cluster, or of Kubernetes itself. KubeVersion replaces that of the Cluster,
	// or [KubeVersion].
	APIVersions []string
	KubeVersion string
}

// Rendered is a chart turned into manifests.
type Rendered struct {
	Name, Version string
	// Files are the custom resource definitions of crds/, then the templates by their names.
	Files []File
	// Fixed is set when the same request, on the same files, always gets the same chart and values, and looks nothing
	// up.
	Fixed bool
	// ReadsMoment is set when another [Moment] may give another rendering.
	ReadsMoment bool
	// Release is set when the request asks for it.
	Release *Release

	notes string
}

// File is one rendered file.
type File struct {
	// Source is where it stands: relative to the application's directory for a chart in the checkout, else below the
	// chart's name.
	Source string
	Data   []byte
	// Template is not set for a file that is taken as it is.
	Template bool
}

// notesFile is a template for those who install a chart, and no manifest.
const notesFile = "NOTES.txt"

// Render renders a chart.
func (c *Charts) Render(ctx context.Context, req Request) (*Rendered, error) {
	g, err := newGuard(c.sources, req.AllowedAddresses)
	if err != nil {
		return nil, err
	}
	loaded, err := c.load(ctx, g, req)
	if err != nil {
		return nil, err
	}
	chrt := loaded.chart
	where := fmt.Sprintf("chart %s %s", chrt.Name(), chrt.Metadata.Version)
	if chrt.Metadata.Type == "library" {
		return nil, fmt.Errorf("%s is a library, which has nothing to deploy: use a chart that depends on it", where)
	}
	if err := chartutil.ValidateReleaseName(req.ReleaseName); err != nil {
		return nil, fmt.Errorf("%q cannot be the name of a release: use at most 53 small letters, digits and '-', "+
			"and set input.helmOptions.releaseName", req.ReleaseName)
	}
	values, err := c.values(ctx, g, req)
	if err != nil {
		return nil, err
	}
	missing, fixed, err := c.addDependencies(ctx, g, req, loaded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	seen, err := req.seen(ctx)
	if err != nil {
		return nil, err
	}
	caps, err := seen.helm()
	if err != nil {
		return nil, err
	}
	if wants := chrt.Metadata.KubeVersion; wants != "" &&
		!chartutil.IsCompatibleRange(wants, caps.KubeVersion.String()) {
		return nil, fmt.Errorf("%s wants Kubernetes %s, and is rendered for %s: %s another version of the chart",
			where, wants, caps.KubeVersion.Version, remedy(req))
	}
	var release *Release
	if req.Record {
		if release, err = newRelease(req.ReleaseName, chrt, values.values); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	rendered, err := c.render(ctx, g, loaded, values, seen, req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if err := stillMissing(chrt, missing); err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if release != nil {
		release.Notes, rendered.Release = rendered.notes, release
	}
	rendered.Fixed = rendered.Fixed && loaded.fixed && fixed && !values.remote
	return rendered, nil
}

// remedy begins what to do about a chart that wants another version of Kubernetes.
func remedy(req Request) string {
	if req.Cluster != nil && req.Options.KubeVersion == "" {
		return "use"
	}
	return "set input.helmOptions.kubeVersion to the version of the cluster, or use"
}

// render gives the files of a chart, which are fixed unless it looks something up.
func (c *Charts) render(ctx context.Context, g *guard, loaded *loaded, values *given, seen *Capabilities,
	req Request) (*Rendered, error) {
	chrt := loaded.chart
	if err := chartutil.ProcessDependencies(chrt, values.values); err != nil {
		return nil, fmt.Errorf("its dependencies: %w", err)
	}
	if req.Cluster != nil {
		seen = seen.with(chrt)
	}
	caps, err := seen.helm()
	if err != nil {
		return nil, err
	}
	namespace := cmp.Or(req.Namespace, seen.Namespace, "default")
	release := common.ReleaseOptions{Name: req.ReleaseName, Namespace: namespace, Revision: req.Moment.revision(),
		IsInstall: !req.Moment.Upgrade, IsUpgrade: req.Moment.Upgrade}
	top, err := util.ToRenderValuesWithSchemaValidation(chrt, values.values, release, caps, true)
	if err != nil {
		return nil, fmt.Errorf("its values are not valid: %w", err)
	}
	if merged, is := top["Values"].(common.Values); is {
		check := &schemaCheck{guard: g, loaded: loaded, given: values}
		if err := check.values(ctx, chrt, merged, nil, nil); err != nil {
			return nil, fmt.Errorf("its values are not valid: %w", err)
		}
	}
	answers := &asker{cluster: req.Cluster}
	texts, err := c.runTemplates(ctx, &job{
		Chart: newJobChart(chrt), Values: valuesOf(top), Release: req.ReleaseName, Namespace: namespace,
		Moment: req.Moment, Capabilities: seen,
	}, loaded, answers)
	if err != nil {
		return nil, err
	}
	out := &Rendered{Name: chrt.Name(), Version: chrt.Metadata.Version, Fixed: answers.asked == 0,
		ReadsMoment: readsMoment(chrt, valuesOf(top)),
		notes:       texts[path.Join(chrt.Name(), "templates", notesFile)]}
	for _, crd := range chrt.CRDObjects() {
		out.Files = append(out.Files, File{Source: loaded.source(crd.Filename), Data: crd.File.Data})
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		if path.Base(name) != notesFile && strings.TrimSpace(text) != "" {
			out.Files = append(out.Files, File{Source: loaded.source(name), Data: []byte(text), Template: true})
		}
	}
	return out, nil
}

// runTemplates runs a job where the sources say.
func (c *Charts) runTemplates(ctx context.Context, j *job, loaded *loaded, answers *asker) (map[string]string, error) {
	if c.sources.Children == nil {
		at := ""
		files, err := j.run(child.TalkTo(ctx, answers.listen(&at)))
		if err != nil {
			return nil, templateError(loaded, err)
		}
		return files, nil
	}
	files, err := c.sources.Children.render(ctx, j, answers)
	if _, is := errors.AsType[*engineError](err); is {
		return nil, templateError(loaded, err)
	}
	if limit, is := errors.AsType[*limitError](err); is && limit.template != "" {
		return nil, &limitError{template: loaded.source(limit.template), of: limit.of}
	}
	return files, err
}

func valuesOf(top common.Values) map[string]any {
	values, _ := top["Values"].(common.Values)
	return values
}
