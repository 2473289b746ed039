package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/test/webserver"
)

// web is the local web in its own process.
type web struct {
	cmd     *exec.Cmd
	client  http.Client
	control string
	port    int
	// Files of the root URLs and of the access log.
	seeds, log string
}

// startWeb starts the program with its files in dir, and waits until it serves.
func startWeb(bin string, spec localweb.Spec, dir string) (*web, error) {
	w := &web{client: http.Client{Timeout: time.Minute}, seeds: filepath.Join(dir, "seeds.txt"), log: filepath.Join(dir, "access.log")}
	w.cmd = exec.Command(filepath.Join(bin, "web"), append(spec.Args(), "-seeds", w.seeds, "-log", w.log)...)
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the web: %w", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var hello struct {
		Control string
		Port    int
	}
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	if err != nil {
		_ = w.cmd.Process.Kill()
		return nil, errors.Join(fmt.Errorf("start the web: %w", err), w.cmd.Wait())
	}
	w.control, w.port = hello.Control, hello.Port
	return w, nil
}

// writeURLs writes the URLs of all pages to a file, and returns their number and size.
func (w *web) writeURLs(site localweb.Web, name string) (pages int64, kib float64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, 0, err
	}
	out := bufio.NewWriter(f)
	for domain, path := range site.Pages() {
		fmt.Fprintln(out, webserver.Origin(domain, w.port)+path)
		pages++
		kib += float64(len(site.Answer(domain, w.port, path, nil).Body)) / 1024
	}
	return pages, kib, errors.Join(out.Flush(), f.Close())
}

func (w *web) served() (pages int64, err error) {
	resp, err := w.client.Get(w.control + "/count")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = fmt.Fscan(resp.Body, &pages)
	return pages, err
}

// stop ends the web and returns its access log and its processor time.
func (w *web) stop() ([]webserver.Entry, time.Duration, error) {
	w.client.CloseIdleConnections()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, 0, err
	}
	if err := w.cmd.Wait(); err != nil {
		return nil, 0, fmt.Errorf("the web failed: %w", err)
	}
	f, err := os.Open(w.log)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	entries, err := webserver.ReadLog(f)
	return entries, cpu(w.cmd.ProcessState), err
}
