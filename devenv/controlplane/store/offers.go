// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

const defaultConfigFilename = "app.pipecd.yaml"

// offers are what the pipeds offer to applications: repositories, deploy targets and platform providers.
type offers struct {
	mu      sync.Mutex
	byPiped map[string]*offer
}

// offer is what one piped offers, as it reported it last. It does not change.
type offer struct{ piped *model.Piped }

func newOffers() *offers { return &offers{byPiped: map[string]*offer{}} }

// put replaces the offer of a piped, which may be empty.
func (o *offers) put(piped *model.Piped) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byPiped[piped.GetId()] = &offer{&model.Piped{
		Id: piped.GetId(), Repositories: piped.GetRepositories(), Plugins: piped.GetPlugins(),
		PlatformProviders: piped.GetPlatformProviders(), CloudProviders: piped.GetCloudProviders(),
	}}
}

// of returns the offer of a piped; NotFound when there is no such piped.
func (o *offers) of(pipedID string) (*offer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if offered := o.byPiped[pipedID]; offered != nil {
		return offered, nil
	}
	return nil, errNoPiped
}

// errNoPiped has PipeCD's words.
var errNoPiped = notFound("Piped is not found")

// complete returns a place in Git with the repository that the piped reported and with a name for the configuration.
func (o *offers) complete(
	pipedID string, path *model.ApplicationGitPath,
) (*model.ApplicationGitPath, error) {
	offered, err := o.of(pipedID)
	if err != nil {
		return nil, err
	}
	repo := offered.repository(path.GetRepo().GetId())
	if repo == nil {
		return nil, notFound("The requested repository is not found in the Piped configuration")
	}
	complete := &model.ApplicationGitPath{Repo: repo, Path: path.GetPath(), ConfigFilename: path.GetConfigFilename()}
	if complete.ConfigFilename == "" {
		complete.ConfigFilename = defaultConfigFilename
	}
	complete.Url = directoryURL(repo, path.GetPath())
	return complete, nil
}

// repository returns a copy of the repository with that id; nil for none.
func (o *offer) repository(id string) *model.ApplicationGitRepository {
	for _, r := range o.piped.GetRepositories() {
		if r.GetId() == id {
			return proto.CloneOf(r)
		}
	}
	return nil
}

// TargetLabel is the label by which an application's configuration chooses one of several deploy
// targets. PipeCD v1 leaves that choice to whoever registers the application in a browser.
const TargetLabel = "pipedeck.dev/target"

// deployTargets are what an application with these labels gets that no one gave any: every target of the plugins that
// it uses, or the one that it chose. PipeCD's pipeds do not report which plugins those are: then it is every plugin. A
// name that no plugin knows gives none, so that a typing mistake deploys nowhere.
func (o *offer) deployTargets(labels map[string]string, used *[]string) map[string]*model.DeployTargets {
	all := map[string]*model.DeployTargets{}
	chosen := map[string]*model.DeployTargets{}
	for _, plugin := range o.piped.GetPlugins() {
		name, targets := plugin.GetName(), plugin.GetDeployTargets()
		if used != nil && !slices.Contains(*used, name) {
			continue
		}
		if len(targets) > 0 {
			all[name] = &model.DeployTargets{DeployTargets: targets}
		}
		if slices.Contains(targets, labels[TargetLabel]) {
			chosen[name] = &model.DeployTargets{DeployTargets: []string{labels[TargetLabel]}}
		}
	}
	switch {
	case labels[TargetLabel] == "":
		return all
	case len(chosen) == 0:
		return chosen
	}
	// Plugins for other platforms keep theirs.
	maps.Copy(all, chosen)
	return all
}

// platformProviders are the types of platform providers that the kinds of PipeCD v0 need.
var platformProviders = map[model.ApplicationKind]string{
	model.ApplicationKind_KUBERNETES: "KUBERNETES", model.ApplicationKind_TERRAFORM: "TERRAFORM",
	model.ApplicationKind_LAMBDA:   "LAMBDA",
	model.ApplicationKind_CLOUDRUN: "CLOUDRUN", model.ApplicationKind_ECS: "ECS",
}

// platformProvider is the provider of a piped of PipeCD v0 that an application gets which no one gave any: the one that
// its label chooses, or the first of its kind. Empty for other pipeds, which have none. v0 refuses to plan without one.
func (o *offer) platformProvider(kind model.ApplicationKind, labels map[string]string) string {
	serves := func(name, kindOfProvider string) bool {
		return kindOfProvider == platformProviders[kind] && (labels[TargetLabel] == "" || labels[TargetLabel] == name)
	}
	for _, provider := range o.piped.GetPlatformProviders() {
		if serves(provider.GetName(), provider.GetType()) {
			return provider.GetName()
		}
	}
	for _, provider := range o.piped.GetCloudProviders() { // older versions of v0
		if serves(provider.GetName(), provider.GetType()) {
			return provider.GetName()
		}
	}
	return ""
}

// directoryURL is where a browser finds the directory, as PipeCD v1 writes it; empty when the
// remote has no such form.
func directoryURL(repo *model.ApplicationGitRepository, path string) string {
	remote := strings.TrimSuffix(repo.GetRemote(), ".git")
	if user, rest, found := strings.Cut(remote, "@"); found && !strings.Contains(remote, "://") &&
		!strings.Contains(user, "/") {
		remote = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	u, err := url.Parse(remote)
	if err != nil || u.Scheme == "" {
		return ""
	}
	if u.Scheme == "ssh" {
		u.Scheme, u.Host = "https", u.Hostname()
	}
	return fmt.Sprintf("%s://%s%s/tree/%s/%s", u.Scheme, u.Host, u.Path, repo.GetBranch(), path)
}
