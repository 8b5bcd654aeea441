# Outlives omp by a moment: when the pipe on standard input closes, everything omp has started is killed.
# $1 is the mark that all of omp's children carry. Lines read: +GROUP, -GROUP, /FOLDER (removed at the end).
trap '' HUP INT QUIT TERM PIPE
groups=' '
folders=
newline='
'
while IFS= read -r line; do
    case $line in
        +*) groups="$groups${line#+} " ;;
        -*) case $groups in *" ${line#-} "*) groups="${groups%%" ${line#-} "*} ${groups#*" ${line#-} "}" ;; esac ;;
        /*) folders="$folders$line$newline" ;;
    esac
done

# Prints "pid parent group" of every living process.
processes() {
    if [ -r /proc/self/stat ]; then
        for stat in /proc/[0-9]*/stat; do
            { IFS= read -r line < "$stat"; } 2>/dev/null || continue
            pid=${line%% *}
            line=${line##*) }
            state=${line%% *}; line=${line#* }
            parent=${line%% *}; line=${line#* }
            [ "$state" = Z ] || echo "$pid $parent ${line%% *}"
        done
    else
        ps -axo pid=,ppid=,pgid=
    fi
}

marked() {
    if [ -r /proc/self/stat ]; then
        for file in $(grep -lsaF "OMP_SPAWN=$1-" /proc/[0-9]*/environ 2>/dev/null); do
            file=${file#/proc/}
            echo "${file%/environ}"
        done
    else
        ps -axEww -o pid=,command= 2>/dev/null | grep -F "OMP_SPAWN=$1-" | grep -v grep |
            while read -r pid rest; do echo "$pid"; done
    fi
}

# What was forked while the list was made shows up in the next round.
round=0
while [ "$round" -lt 50 ]; do
    table=$(processes)
    doomed=" $(marked "$1" | tr '\n' ' ') "
    grown=1
    while [ "$grown" = 1 ]; do
        grown=0
        while read -r pid parent group; do
            [ -n "$pid" ] || continue
            case $doomed in *" $pid "*) continue ;; esac
            case "$groups" in *" $group "*) doomed="$doomed$pid "; grown=1; continue ;; esac
            case $doomed in *" $parent "*) doomed="$doomed$pid "; grown=1 ;; esac
        done <<TABLE
$table
TABLE
    done
    found=0
    for pid in $doomed; do
        kill -KILL "$pid" 2>/dev/null && found=1
    done
    [ "$found" = 1 ] || break
    round=$((round + 1))
    sleep 0.02 2>/dev/null
done

while IFS= read -r folder; do
    [ -n "$folder" ] && rm -rf -- "$folder"
done <<FOLDERS
$folders
FOLDERS
exit 0
