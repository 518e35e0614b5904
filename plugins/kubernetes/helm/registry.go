// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// chartLayer is the type of a chart's archive in a registry (Helm's).
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

const (
	maxOCIManifest = 1 << 20 // bytes
	maxTags        = 10_000
)

// registry is a place in an OCI registry: "registry.example:5000/team".
type registry struct {
	place string
	login Registry
	guard *guard
}

var _ source = (*registry)(nil)

// newRegistry chooses the login whose address is the longest that fits.
func newRegistry(address string, logins []Registry, g *guard) (*registry, error) {
	r := &registry{place: strings.Trim(strings.TrimPrefix(address, "oci://"), "/"), guard: g}
	if r.place == "" || strings.ContainsAny(r.place, "@?# ") {
		return nil, errors.New("input.helmChart.repository: write oci://registry/path")
	}
	best := ""
	for _, login := range logins {
		at := strings.Trim(strings.TrimPrefix(login.Address, "oci://"), "/")
		if (r.place == at || strings.HasPrefix(r.place, at+"/")) && len(at) > len(best) {
			best, r.login = at, login
		}
	}
	return r, nil
}

func (r *registry) identity() string {
	login := sha256.Sum256([]byte(r.login.Username + "\n" + r.login.Password))
	return "oci://" + r.place + "\n" + hex.EncodeToString(login[:])
}

// fetch gets a chart's layer, which the registry's manifest names by its digest.
func (r *registry) fetch(ctx context.Context, name, version string) ([]byte, error) {
	repository, err := remote.NewRepository(r.place + "/" + name)
	if err != nil {
		return nil, errors.New("that is not a place in a registry")
	}
	host := repository.Reference.Registry
	repository.PlainHTTP = loopback(host)
	client := &auth.Client{Client: anonymous("https://"+host, r.guard).client}
	client.SetUserAgent(userAgent)
	if r.login.Username+r.login.Password != "" {
		client.Credential = auth.StaticCredential(host,
			auth.Credential{Username: r.login.Username, Password: r.login.Password})
	}
	repository.Client = client
	tag := version
	if !isExact(version) {
		if tag, err = newestTag(ctx, repository, version); err != nil {
			return nil, err
		}
	}
	// A tag cannot have the "+" of a version's build (Helm: the same).
	descriptor, err := repository.Resolve(ctx, strings.ReplaceAll(tag, "+", "_"))
	if err != nil {
		return nil, registryError(err)
	}
	layer, err := findLayer(ctx, repository, descriptor)
	if err != nil {
		return nil, err
	}
	return read(ctx, repository.Blobs(), layer, maxArchive)
}

func newestTag(ctx context.Context, repository *remote.Repository, wanted string) (string, error) {
	var versions []string
	err := repository.Tags(ctx, "", func(tags []string) error {
		if len(versions)+len(tags) > maxTags {
			return fmt.Errorf("it has more than %d tags: write an exact version", maxTags)
		}
		for _, tag := range tags {
			versions = append(versions, strings.ReplaceAll(tag, "_", "+"))
		}
		return nil
	})
	if err != nil {
		return "", registryError(err)
	}
	return pick(versions, wanted)
}

func findLayer(ctx context.Context, repository *remote.Repository, of ocispec.Descriptor) (ocispec.Descriptor, error) {
	if of.MediaType != ocispec.MediaTypeImageManifest {
		return ocispec.Descriptor{}, fmt.Errorf("it is of the type %s, which is no chart", of.MediaType)
	}
	data, err := read(ctx, repository.Manifests(), of, maxOCIManifest)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	for _, layer := range manifest.Layers {
		if layer.MediaType == chartLayer {
			return layer, nil
		}
	}
	return ocispec.Descriptor{}, errors.New("it is not a chart: push it with helm push")
}

// read gets content of at most limit bytes and checks its digest.
func read(ctx context.Context, from content.Fetcher, what ocispec.Descriptor, limit int64) ([]byte, error) {
	if what.Size > limit {
		return nil, fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	body, err := from.Fetch(ctx, what)
	if err != nil {
		return nil, registryError(err)
	}
	defer body.Close()
	data, err := content.ReadAll(body, what)
	if err != nil {
		return nil, requestError(err)
	}
	return data, nil
}

func registryError(err error) error {
	var response *errcode.ErrorResponse
	switch {
	case errors.Is(err, errdef.ErrNotFound), errors.As(err, &response) && response.StatusCode == http.StatusNotFound:
		return errors.New("the registry has no such chart, or not that version")
	case errors.As(err, &response) &&
		(response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden),
		errors.Is(err, auth.ErrBasicCredentialNotFound):
		return errors.New("the registry gives no access: set username and password for it in the plugin's " +
			"chartRegistries")
	case errors.As(err, &response):
		return fmt.Errorf("the registry answers %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	return requestError(err)
}
